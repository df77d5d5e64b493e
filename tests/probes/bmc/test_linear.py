"""Large replies of a hostile BMC: the work of the readers grows with the number of entries, not with its square."""

from collections.abc import Mapping
from typing import Any

import pytest

from rackcheck.model.capture import BmcCapture
from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reading, Reason, Unknown, Unreadable
from rackcheck.model.resource import MEMBERS, ROOT, Body, Resource
from rackcheck.parse.bmc import gpu_heat
from rackcheck.parse.bmc.reading_kind import MOST, kind, related
from rackcheck.probe.collect import collect
from rackcheck_probes.bmc.bios import bmc_bios
from rackcheck_probes.bmc.power import bmc_power


class Counted(dict[str, Any]):
    """An object of a reply that counts how often it is read or compared."""

    uses = 0

    def get(self, name: str, default: Any = None) -> Any:
        Counted.uses += 1
        return super().get(name, default)

    def __eq__(self, other: object) -> bool:
        Counted.uses += 1
        return super().__eq__(other)

    __hash__ = None


@pytest.fixture(autouse=True)
def _fresh() -> None:
    Counted.uses = 0


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


def listed(place: str, names: list[str]) -> dict[str, Any]:
    return {"Members": [link(f"{place}/{name}") for name in names]}


def facts(probe: Any, bodies: Mapping[str, Body | Unknown]) -> dict[str, Reading]:
    leaves = collect([probe], BmcCapture(bodies))
    return {path: leaf.reading for path, leaf in leaves.items()}


def test_different_parts_with_one_uri_are_not_compared_in_pairs() -> None:
    parts = [Counted({"@odata.id": f"{ROOT}/Chassis/1/Thermal#/Fans/0", "Reading": n}) for n in range(50_000)]
    thermal = Resource(f"{ROOT}/Chassis/1/Thermal", {"Fans": parts})
    read = thermal.parts("Fans")
    found = [next(read) for _ in range(MEMBERS)]
    with pytest.raises(Unreadable, match="more than"):
        next(read)
    assert found[-1].body["Reading"] == MEMBERS - 1
    assert Counted.uses <= 2 * len(parts)


def test_a_part_that_is_listed_twice_is_still_one_part_whatever_the_order_of_its_properties() -> None:
    uri = f"{ROOT}/Chassis/1/Thermal#/Fans/0"
    one, same, other = (
        {"@odata.id": uri, "Reading": 1},
        {"Reading": 1, "@odata.id": uri},
        {"@odata.id": uri, "Reading": True},
    )
    assert len(list(Resource("t", {"Fans": [one, same]}).parts("Fans"))) == 1
    assert len(list(Resource("t", {"Fans": [one, other]}).parts("Fans"))) == 2


def bios(count: int) -> dict[str, Body | Unknown]:
    rows = [Counted({"AttributeName": f"Attribute{n}", "CurrentValue": "x"}) for n in range(count)]
    systems = f"{ROOT}/Systems"
    return {
        ROOT: {"Systems": link(systems)},
        systems: listed(systems, ["1"]),
        f"{systems}/1": {"Id": "1", "BiosVersion": "1", "Bios": link(f"{systems}/1/Bios")},
        f"{systems}/1/Bios": {"Id": "Bios", "Attributes": rows},
    }


def test_a_list_of_attributes_is_read_a_fixed_number_of_times() -> None:
    found = facts(bmc_bios, bios(4000))
    assert found["bios.attribute/Attribute3999"] == "x"
    assert Counted.uses <= 10 * 4000


def hot(gpus: int, entries: int) -> dict[str, Body | Unknown]:
    """A BMC whose GPUs share one chassis with a long list of temperatures."""
    systems, chassis = f"{ROOT}/Systems", f"{ROOT}/Chassis"
    processors, board = f"{systems}/1/Processors", f"{chassis}/board"
    names = [f"GPU{n}" for n in range(gpus)]
    heat = [Counted({"PhysicalContext": "GPU", "DataSourceUri": f"{board}/Sensors/{n}"}) for n in range(entries)]
    sensor = {"Id": "s", "ReadingType": "Temperature", "ReadingUnits": "Cel", "Reading": 40}
    return {
        ROOT: {"Systems": link(systems), "Chassis": link(chassis)},
        systems: listed(systems, ["1"]),
        f"{systems}/1": {"Id": "1", "BiosVersion": "1", "Processors": link(processors)},
        processors: listed(processors, names),
        **{
            f"{processors}/{name}": {"Id": name, "ProcessorType": "GPU", "Links": {"Chassis": link(board)}}
            for name in names
        },
        chassis: listed(chassis, ["board"]),
        board: {"Id": "board", "ThermalSubsystem": {"ThermalMetrics": link(f"{board}/Metrics")}},
        f"{board}/Metrics": {"Id": "Metrics", "TemperatureReadingsCelsius": heat},
        **{f"{board}/Sensors/{n}": {**sensor, "Id": str(n)} for n in range(entries)},
    }


def test_the_list_of_a_chassis_is_searched_for_few_gpus_and_unknown_for_many() -> None:
    found = dict(gpu_heat.heats(Documents(hot(gpu_heat.SHARING + 1, 500))))
    assert len(found) == gpu_heat.SHARING + 1
    readings = [heat.headroom.reading for heat in found.values()]
    assert all(isinstance(each, Unknown) and each.reason is Reason.NOT_READ_FURTHER for each in readings)
    assert Counted.uses <= 500


def test_the_list_of_a_chassis_is_searched_if_few_gpus_share_it() -> None:
    bodies = hot(2, 3)
    own = f"{ROOT}/Systems/1/Processors/GPU1"
    sensor = bodies[f"{ROOT}/Chassis/board/Sensors/1"]
    assert not isinstance(sensor, Unknown)
    bodies[f"{ROOT}/Chassis/board/Sensors/1"] = {**sensor, "Reading": 55, "RelatedItem": [link(own)]}
    found = dict(gpu_heat.heats(Documents(bodies)))
    assert found["GPU1"].temperature.reading == 55
    assert isinstance(found["GPU0"].temperature.reading, Unknown)


def shelves(count: int) -> dict[str, Body | Unknown]:
    """A chassis whose collection contains the power supplies, while the BMC returns 404 for each of them."""
    chassis = f"{ROOT}/Chassis"
    held = f"{chassis}/1/PowerSubsystem/PowerSupplies"
    rows = [Counted({"@odata.id": f"{held}/{n}", "Id": f"PSU{n}", "Model": "M"}) for n in range(count)]
    return {
        ROOT: {"Chassis": link(chassis)},
        chassis: listed(chassis, ["1"]),
        f"{chassis}/1": {"Id": "1", "PowerSubsystem": {"PowerSupplies": link(held)}},
        held: {"Members": rows},
        **{f"{held}/{n}": Unknown(Reason.NOT_COLLECTED, "HTTP 404") for n in range(count)},
    }


def test_supplies_that_only_their_collection_contains_are_found_in_one_pass() -> None:
    found = facts(bmc_power, shelves(300))
    assert found["psu/PSU299.model"] == "M"
    assert Counted.uses <= 100 * 300


def test_a_sensor_that_many_entries_name_is_read_in_part() -> None:
    """Each of the entries of a list may name the same large sensor."""
    items = [Counted({"@odata.id": f"/{n}"}) for n in range(50_000)]
    sensor = Resource("/s", {"Reading": 1, "ReadingUnits": "Cel", "RelatedItem": items})
    assert len(related(sensor)) == MOST
    assert kind(sensor).reading == "temperature"
    assert Counted.uses <= 2 * MOST
    many = {f"UpperCritical{n}": Counted({"Reading": 1}) for n in range(50_000)}
    odd = kind(Resource("/s", {"Reading": 1, "ReadingUnits": "Cel", "Thresholds": many})).reading
    assert isinstance(odd, Unknown)
    assert odd.reason is Reason.TOO_LARGE
    assert Counted.uses <= 2 * MOST
