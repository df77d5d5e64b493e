"""What kind of machine a BMC manages: recorded machines, and some without a recording."""

from collections.abc import Mapping

import pytest
from mockup_server import Mockup
from trees import (
    ANY_CASE,
    BLUEFIELD,
    DELL,
    DELTA,
    DGX,
    DMTF,
    GB200,
    HPE_AMD,
    HPE_INTEL,
    LENOVO,
    NVSWITCH,
    SUPERMICRO,
    X10,
    client,
    tree,
)

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.model.resource import ROOT, Body
from rackcheck.probe.collect import collect
from rackcheck.transport import redfish
from rackcheck_probes.bmc.kind import bmc_kind

LOST = Unknown(Reason.TIMEOUT, "no answer")


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


def kind(bodies: Mapping[str, Body | Unknown]) -> Reading:
    return collect([bmc_kind], BmcCapture(bodies))["bmc.kind"].reading


def machine(
    *systems: object, chassis: tuple[object, ...] = ("RackMount",), **root: object
) -> dict[str, Body | Unknown]:
    """A BMC with these systems, and chassis of these types."""
    bodies: dict[str, object] = {ROOT: {"Systems": link(f"{ROOT}/Systems"), "Chassis": link(f"{ROOT}/Chassis"), **root}}
    for name, members in (("Systems", systems), ("Chassis", [{"ChassisType": each} for each in chassis])):
        place = f"{ROOT}/{name}"
        bodies[place] = {"Members": [link(f"{place}/{n}") for n in range(len(members))]}
        bodies |= {f"{place}/{n}": body for n, body in enumerate(members)}
    return bodies  # type: ignore[return-value]  # odd bodies too


def counting(count: object) -> dict[str, object]:
    return {"Id": "s", "ProcessorSummary": {"Count": count}}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, "server") for name in (DELL, DGX, SUPERMICRO, HPE_INTEL, HPE_AMD, LENOVO, GB200, DMTF, X10)),
        *((NVSWITCH, "switch_tray"), (BLUEFIELD, "dpu"), (DELTA, "power_shelf")),
    ],
)
def test_a_recorded_machine_is_known_by_what_it_is_made_of(name: str, expected: str) -> None:
    with Mockup(tree(name), ignore_case=name in ANY_CASE) as server:
        capture, trouble = redfish.read(client(server), bmc_kind.ask.links)
    assert trouble is None
    assert kind(capture.bodies) == expected


def test_a_system_that_calls_itself_a_dpu_is_one_whatever_its_processors() -> None:
    assert kind(machine({"Id": "s", "SystemType": "DPU", "ProcessorSummary": {"Count": 16}})) == "dpu"


def test_a_card_in_a_rack_mounted_machine_makes_no_dpu() -> None:
    assert kind(machine(counting(2), chassis=("RackMount", "Card"))) == "server"
    assert kind(machine(counting(2), chassis=("Component", "Card"))) == "dpu"


@pytest.mark.parametrize("count", [None, "", "two", -1, True, [], {}])
def test_a_number_of_processors_that_is_none_decides_nothing(count: object) -> None:
    assert isinstance(kind(machine(counting(count), Fabrics=link(f"{ROOT}/Fabrics"))), Unknown)


def test_neither_processors_nor_switches_nor_power_equipment_is_unknown() -> None:
    assert isinstance(kind(machine(counting(0))), Unknown)
    assert isinstance(kind(machine()), Unknown)


def powered(
    *collections: str, empty: tuple[str, ...] = (), chassis: object = "RackMount", **root: object
) -> dict[str, Body | Unknown]:
    """A BMC without systems, with these collections of power equipment."""
    place = f"{ROOT}/PowerEquipment"
    bodies = machine(chassis=(chassis,), PowerEquipment=link(place), **root)
    bodies[place] = {"Id": "PowerEquipment", **{name: link(f"{place}/{name}") for name in (*collections, *empty)}}
    for name in (*collections, *empty):
        bodies[f"{place}/{name}"] = {"Members": [link(f"{place}/{name}/1")] if name in collections else []}
    return bodies


def supplied(bodies: Mapping[str, Body | Unknown]) -> dict[str, Body | Unknown]:
    """The same, with power supplies in the chassis."""
    place = f"{ROOT}/Chassis/0"
    return {**bodies, place: {"ChassisType": "RackMount", "PowerSubsystem": link(f"{place}/PowerSubsystem")}}


@pytest.mark.parametrize(
    ("name", "expected"), [("PowerShelves", "power_shelf"), ("RackPDUs", "pdu"), ("FloorPDUs", "pdu")]
)
def test_power_equipment_is_of_the_kind_of_the_collection_that_has_members(name: str, expected: str) -> None:
    assert kind(powered(name)) == expected
    assert kind(powered(name, empty=tuple({"PowerShelves", "RackPDUs", "FloorPDUs"} - {name}))) == expected
    assert kind(powered(name, "TransferSwitches")) == expected
    assert isinstance(kind(powered(name) | {f"{ROOT}/PowerEquipment/{name}": LOST}), Unknown)
    assert isinstance(kind(powered(name) | {f"{ROOT}/PowerEquipment": LOST}), Unknown)


def test_power_equipment_without_members_is_a_shelf_only_if_it_has_supplies_and_no_distribution() -> None:
    gone: dict[str, Body | Unknown] = {f"{ROOT}/PowerEquipment": Unknown(Reason.NOT_COLLECTED, "HTTP 404")}
    assert kind(supplied(powered())) == "power_shelf"
    assert kind(supplied(powered()) | gone) == "power_shelf"
    assert kind(supplied(machine(PowerEquipment=link(f"{ROOT}/PowerEquipment")))) == "power_shelf"  # an older capture
    for bodies in (powered(), powered() | gone, powered("TransferSwitches"), powered("Switchgear")):
        assert isinstance(kind(bodies), Unknown)
    for name in ("RackPDUs", "FloorPDUs", "Switchgear"):
        assert isinstance(kind(supplied(powered(empty=(name,)))), Unknown)


def test_equipment_of_several_kinds_is_unknown() -> None:
    for bodies in (powered("PowerShelves", "RackPDUs"), powered("RackPDUs", ThermalEquipment=link(f"{ROOT}/T"))):
        found = kind(bodies)
        assert isinstance(found, Unknown)
        assert "several kinds" in found.detail


def test_a_server_or_switch_tray_with_distribution_is_no_pdu() -> None:
    equipment = {uri: body for uri, body in powered("RackPDUs").items() if "/PowerEquipment" in uri}
    bodies = machine(counting(2), PowerEquipment=link(f"{ROOT}/PowerEquipment"))
    assert kind(bodies | equipment) == "server"
    assert isinstance(kind(machine(counting(0), PowerEquipment=link(f"{ROOT}/PowerEquipment")) | equipment), Unknown)
    assert kind(powered("RackPDUs", chassis="Enclosure")) == "pdu"


def placed(count: int, *chassis: int) -> dict[str, object]:
    return {**counting(count), "Links": {"Chassis": [link(f"{ROOT}/Chassis/{each}") for each in chassis]}}


def test_a_server_in_a_blade_s_chassis_is_a_blade() -> None:
    for word in ("Blade", "Sled"):
        assert kind(machine(placed(2, 0), chassis=(word, "Module"))) == "blade"
        assert kind(machine(placed(2, 1), chassis=("Enclosure", word, word))) == "blade"  # a server in two sleds
        assert kind(machine(placed(2, 1), chassis=(word, "RackMount"))) == "server"  # it is in the other chassis
        assert kind(machine(placed(0, 0), chassis=(word,), Fabrics=link(f"{ROOT}/Fabrics"))) != "blade"


def test_an_enclosure_holds_several_blades_or_has_no_system() -> None:
    assert kind(machine(placed(2, 1), placed(2, 2), chassis=("Enclosure", "Blade", "Blade"))) == "enclosure"
    assert kind(machine(chassis=("Enclosure",))) == "enclosure"
    unlisted = machine(chassis=("Enclosure",))
    own = {"ChassisType": "Enclosure", "Links": {"ComputerSystems": [link(f"{ROOT}/Systems/1")]}}
    assert isinstance(kind({**unlisted, f"{ROOT}/Chassis/0": own}), Unknown)
    assert kind(machine(counting(2), chassis=("RackMount", "Enclosure"))) == "server"  # a drive enclosure in a server


def test_cooling_units_are_known_by_their_equipment_or_chassis() -> None:
    thermal, power = link(f"{ROOT}/ThermalEquipment"), link(f"{ROOT}/PowerEquipment")
    assert kind(machine(chassis=("Other",), ThermalEquipment=thermal)) == "cooling_unit"
    assert kind(machine(chassis=("HeatExchanger",))) == "cooling_unit"
    assert kind(machine(counting(2), ThermalEquipment=thermal)) == "server"
    assert isinstance(kind(machine(ThermalEquipment=thermal, PowerEquipment=power)), Unknown)
    assert isinstance(kind(machine(ThermalEquipment="no link")), Unknown)


@pytest.mark.parametrize("lost", ["Systems", "Systems/0", "Chassis", "Chassis/0"])
def test_what_could_not_be_read_may_have_decided_otherwise(lost: str) -> None:
    assert isinstance(kind(machine(counting(2)) | {f"{ROOT}/{lost}": LOST}), Unknown)


def test_switches_that_could_not_be_read_leave_a_machine_unknown() -> None:
    fabrics = f"{ROOT}/Fabrics"
    bodies = machine(counting(0), Fabrics=link(fabrics))
    assert isinstance(kind(bodies | {fabrics: LOST}), Unknown)
    listed: dict[str, Body | Unknown] = {fabrics: {"Members": [link(f"{fabrics}/0")]}}
    listed[f"{fabrics}/0"] = {"Switches": link(f"{fabrics}/0/Switches")}
    with_one: dict[str, Body | Unknown] = {f"{fabrics}/0/Switches": {"Members": [link(f"{fabrics}/0/Switches/0")]}}
    assert kind(bodies | listed | with_one) == "switch_tray"
    assert isinstance(kind(bodies | listed | {f"{fabrics}/0/Switches": {"Members": []}}), Unknown)
    for odd in (LOST, {"Members": "x"}, {"Members": None}, {"Members": 7}):
        assert isinstance(kind(bodies | listed | {f"{fabrics}/0/Switches": odd}), Unknown)
