"""Lists of a BMC: doubled members, wrong counts, pages, missing members and collections, older beside newer schemas."""

from collections.abc import Mapping
from typing import Any

import pytest
from one_probe import Found, ask, bodies
from trees import DELL, DELTA, DGX, GB200, HPE_INTEL, LENOVO, SUPERMICRO, bmc_probes

from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck.model.resource import MEMBERS, Body

GONE = Unknown(Reason.NOT_COLLECTED, "HTTP 404")
PROBES = bmc_probes()
FIRMWARE = "/redfish/v1/UpdateService/FirmwareInventory"
CHASSIS = "/redfish/v1/Chassis"
Changes = Mapping[str, Body | Unknown]


def read(probe: str, name: str, changes: Changes | None = None) -> Found:
    return ask(PROBES[probe], name, changes)


def body(probe: str, name: str, uri: str) -> dict[str, Any]:
    found = bodies(PROBES[probe], name)[uri]
    assert not isinstance(found, Unknown)
    return dict(found)


def members(probe: str, name: str, uri: str) -> list[dict[str, str]]:
    listed = body(probe, name, uri)["Members"]
    assert isinstance(listed, list)
    return list(listed)


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


def collection(*listed: dict[str, str], count: int | None = None, **more: object) -> dict[str, Any]:
    return {"Members": list(listed), "Members@odata.count": len(listed) if count is None else count, **more}


# The same member twice


@pytest.mark.parametrize("counted", [True, False])
def test_a_member_that_is_listed_twice_is_one_and_costs_nothing(*, counted: bool) -> None:
    before = read("bmc_firmware", DELL)
    listed = members("bmc_firmware", DELL, FIRMWARE)
    double = collection(*listed, listed[3], count=len(listed) + counted)
    assert read("bmc_firmware", DELL, {FIRMWARE: double}) == before


def test_a_collection_in_another_order_tells_the_same() -> None:
    before = read("bmc_firmware", DELL)
    listed = members("bmc_firmware", DELL, FIRMWARE)
    after = read("bmc_firmware", DELL, {FIRMWARE: collection(*reversed(listed))})
    collections = {path for path, reading in before.items() if isinstance(reading, tuple)}
    assert {p: r for p, r in after.items() if p not in collections} == {
        p: r for p, r in before.items() if p not in collections
    }


def test_a_part_that_an_array_holds_twice_is_one() -> None:
    place = f"{CHASSIS}/1/Power"
    power = body("bmc_power", SUPERMICRO, place)
    supplies = power["PowerSupplies"]
    double = {**power, "PowerSupplies": [*supplies, supplies[0]], "PowerSupplies@odata.count": len(supplies) + 1}
    assert read("bmc_power", SUPERMICRO, {place: double})["psu"] == read("bmc_power", SUPERMICRO)["psu"]
    other = {
        **double,
        "PowerSupplies": [*supplies, {**supplies[0], "@odata.id": f"{place}#/PowerSupplies/99", "MemberId": "99"}],
    }
    assert len(read("bmc_power", SUPERMICRO, {place: other})["psu"]) == len(supplies) + 1  # type: ignore[arg-type]


# Fewer than the count says


def test_a_count_above_the_list_leaves_the_total_unknown_and_each_listed_part_known() -> None:
    before = read("bmc_firmware", DELL)
    listed = members("bmc_firmware", DELL, FIRMWARE)
    after = read("bmc_firmware", DELL, {FIRMWARE: collection(*listed, count=len(listed) + 1)})
    total = after["firmware.component"]
    assert isinstance(total, Unknown)
    assert f"a count of {len(listed) + 1} Members, but lists {len(listed)}" in total.detail
    leaves = {path: reading for path, reading in before.items() if path.startswith("firmware.component/")}
    assert leaves
    assert {path: after[path] for path in leaves} == leaves


# Pages


def test_a_collection_in_two_pages_is_read_to_its_end() -> None:
    before = read("bmc_firmware", DELL)
    listed = members("bmc_firmware", DELL, FIRMWARE)
    second = f"{FIRMWARE}?$skip=10"
    first = collection(*listed[:10], count=len(listed), **{"Members@odata.nextLink": second})
    rest = collection(*listed[10:], count=len(listed))
    assert read("bmc_firmware", DELL, {FIRMWARE: first, second: rest}) == before


def test_a_second_page_that_repeats_the_first_does_not_hide_what_is_missing() -> None:
    listed = members("bmc_firmware", DELL, FIRMWARE)
    half = listed[: len(listed) // 2]
    second = f"{FIRMWARE}?$skip={len(half)}"
    first = collection(*half, count=2 * len(half), **{"Members@odata.nextLink": second})
    again = collection(*half, count=2 * len(half))
    found = read("bmc_firmware", DELL, {FIRMWARE: first, second: again})
    assert isinstance(found["firmware.component"], Unknown)


def test_a_page_that_is_not_there_leaves_the_total_unknown_and_the_first_page_known() -> None:
    listed = members("bmc_firmware", DELL, FIRMWARE)
    second = f"{FIRMWARE}?$skip=10"
    first = collection(*listed[:10], count=len(listed), **{"Members@odata.nextLink": second})
    found = read("bmc_firmware", DELL, {FIRMWARE: first, second: GONE})
    assert isinstance(found["firmware.component"], Unknown)
    assert len({path.rpartition(".")[0] for path in found if path.startswith("firmware.component/")}) == 10


# What is not there


def test_a_member_that_is_not_there_costs_its_own_facts_only() -> None:
    before = read("bmc_firmware", DELL)
    uri = members("bmc_firmware", DELL, FIRMWARE)[3]["@odata.id"]
    after = read("bmc_firmware", DELL, {uri: GONE})
    assert after["firmware.component"] == before["firmware.component"]
    own = {path for path in before if f'/"{uri.rpartition("/")[2]}"' in path or f"/{uri.rpartition('/')[2]}." in path}
    lost = {path for path in before if path in after and after[path] != before[path]}
    assert {path for path in lost if path.startswith("firmware.component/")} <= own
    assert [path for path in own if isinstance(after[path], Unknown)]


def test_a_collection_that_is_not_there_costs_its_own_facts_only() -> None:
    found = read("bmc_firmware", DELL, {FIRMWARE: GONE})
    assert isinstance(found["firmware.component"], Unknown)
    assert read("bmc_identity", DELL, {FIRMWARE: GONE}) == read("bmc_identity", DELL)


@pytest.mark.parametrize("name", [DELL, HPE_INTEL, LENOVO, SUPERMICRO])
@pytest.mark.parametrize(("probe", "fact"), [("bmc_power", "psu"), ("bmc_nic", "bmc.nic"), ("bmc_cooling", "fan")])
def test_a_chassis_that_is_not_there_leaves_the_list_unknown_and_each_part_of_another_known(
    name: str, probe: str, fact: str
) -> None:
    ghost = f"{CHASSIS}/Mezzanine"
    listed = members(probe, name, CHASSIS)
    changes: Changes = {CHASSIS: collection(*listed, link(ghost)), ghost: GONE}
    before, after = read(probe, name), read(probe, name, changes)
    lost = {path for path in before if after.get(path) != before[path]}
    assert lost == {path for path in (fact, "sensor") if path in before and isinstance(after[path], Unknown)}
    assert f"{ghost}: HTTP 404" in str(after[fact])
    assert isinstance(before[fact], tuple)
    found = read("bmc_chassis", name, changes)
    assert isinstance(found["bmc.chassis/Mezzanine.model"], Unknown)
    assert isinstance(found["bmc.chassis"], tuple)


def test_if_no_chassis_is_there_the_parts_are_unknown() -> None:
    listed = members("bmc_power", DELL, CHASSIS)
    found = read("bmc_power", DELL, {each["@odata.id"]: GONE for each in listed})
    assert isinstance(found["psu"], Unknown)


def test_a_chassis_that_was_not_read_still_makes_the_list_incomplete() -> None:
    ghost = f"{CHASSIS}/Mezzanine"
    listed = members("bmc_power", DELL, CHASSIS)
    lost = Unknown(Reason.TIMEOUT, "no answer")
    assert isinstance(read("bmc_power", DELL, {CHASSIS: collection(*listed, link(ghost)), ghost: lost})["psu"], Unknown)


# Null states and health


def supply(**properties: object) -> Found:
    place = f"{CHASSIS}/System.Embedded.1/Power"
    power = body("bmc_power", DELL, place)
    newer = "/redfish/v1/Chassis/System.Embedded.1/PowerSubsystem/PowerSupplies"
    first, *rest = power["PowerSupplies"]
    return read(
        "bmc_power", DELL, {newer: collection(), place: {**power, "PowerSupplies": [{**first, **properties}, *rest]}}
    )


def test_a_supply_with_a_state_of_null_is_there_with_its_model_and_its_state_is_unknown() -> None:
    found = supply(Status={"State": None, "Health": "OK"})
    key = next(path for path in found if path.endswith(".model")).removesuffix(".model")
    assert isinstance(found[f"{key}.state"], Unknown)
    assert isinstance(found[f"{key}.model"], str)
    assert found[f"{key}.health"] == "OK"
    assert found["psu"] == supply()["psu"]
    empty = supply(Status={"State": None}, Model=None, SerialNumber=None, PartNumber=None, PowerCapacityWatts=0)
    assert isinstance(empty[f"{key}.capacity"], Unknown)  # an empty slot may report 0
    assert isinstance(supply(Status={"State": "Absent"})[f"{key}.model"], Absent)


@pytest.mark.parametrize(("rollup", "expected"), [("OK", "OK"), ("Critical", None), (None, None)])
def test_a_health_of_null_is_that_of_the_rollup_only_if_it_is_ok(rollup: str | None, expected: str | None) -> None:
    found = supply(Status={"State": "Enabled", "Health": None, "HealthRollup": rollup})
    reading = found[next(path for path in found if path.endswith(".health"))]
    assert reading == expected if expected else isinstance(reading, Unknown)


# The older schema beside the newer


def both(newer: dict[str, object], older: dict[str, object], *more: object) -> Found:
    """A Dell whose first supply is listed in both schemas."""
    chassis = f"{CHASSIS}/System.Embedded.1"
    place, holder = f"{chassis}/PowerSubsystem/PowerSupplies", f"{chassis}/PowerSubsystem"
    changes: dict[str, Body | Unknown] = {
        chassis: {
            **body("bmc_power", DELL, chassis),
            "PowerSubsystem": link(holder),
            "Power": link(f"{chassis}/Power"),
        },
        holder: {"Id": "PowerSubsystem", "PowerSupplies": link(place)},
        place: collection(link(f"{place}/A")),
        f"{place}/A": {"@odata.id": f"{place}/A", "Id": "A", "Name": "PS1 Status", **newer},
        f"{chassis}/Power": {"Id": "Power", "PowerSupplies": [{"MemberId": "0", "Name": "PS1 Status", **older}, *more]},
    }
    return read("bmc_power", DELL, changes)


def test_the_older_resource_tells_what_the_newer_leaves_out_and_no_supply_counts_twice() -> None:
    older: dict[str, object] = {"Model": "Old", "FirmwareVersion": "1.2", "PowerCapacityWatts": 1400}
    status: dict[str, object] = {"Status": {"State": "Enabled", "Health": "OK"}}
    found = both({"Model": "New", "FirmwareVersion": None, **status}, {**older, "Status": {"State": "Absent"}})
    assert found["psu"] == ("A",)
    assert (found["psu/A.model"], found["psu/A.firmware"], found["psu/A.capacity"]) == ("New", "1.2", 1400)
    assert found["psu/A.state"] == "Enabled"


def test_the_older_resource_serves_for_a_state_and_not_for_an_invalid_health() -> None:
    off: dict[str, object] = {"Status": {"State": "UnavailableOffline", "Health": "OK"}}
    found = both({"Model": "New", "Status": {"Health": "OK"}}, off)
    assert found["psu/A.state"] == "UnavailableOffline"
    assert isinstance(both({"Model": "New", "Status": {"Health": "Failed"}}, off)["psu/A.health"], Unknown)


def test_a_supply_with_another_serial_number_or_name_is_not_the_same() -> None:
    other: dict[str, object] = {"FirmwareVersion": "1.2", "SerialNumber": "B7"}
    assert isinstance(both({"SerialNumber": "A5"}, other)["psu/A.firmware"], Unknown)
    assert isinstance(both({}, {**other, "Name": "PS2 Status"})["psu/A.firmware"], Unknown)
    twice: dict[str, object] = {"MemberId": "1", "Name": "PS1 Status", "FirmwareVersion": "1.3"}
    assert isinstance(both({}, other, twice)["psu/A.firmware"], Unknown)


def test_a_supply_that_only_the_older_resource_lists_is_added_if_the_two_name_the_others_alike() -> None:
    second: dict[str, object] = {"MemberId": "1", "Name": "PS2 Status", "SerialNumber": "B7", "Model": "Old"}
    on: dict[str, object] = {"Status": {"State": "Enabled", "Health": "Critical"}}
    found = both({"SerialNumber": "A5"}, {"SerialNumber": "A5"}, second | on)
    assert found["psu"] == ("1", "A")
    assert (found["psu/1.serial"], found["psu/1.health"]) == ("B7", "Critical")
    assert both({"SerialNumber": "A5"}, {"SerialNumber": "C9"}, second | on)["psu"] == ("A",)
    assert both({"SerialNumber": "A5"}, {"SerialNumber": "A5"}, second | {"Status": {"State": "Absent"}})["psu"] == (
        "A",
    )


def test_an_older_list_that_is_cut_may_have_more_fans_than_the_newer_one() -> None:
    uri = f"{CHASSIS}/DGX/Thermal"
    thermal = body("bmc_cooling", DGX, uri)
    parts = thermal["Fans"]
    more = [{**parts[0], "MemberId": f"x{n}", "Name": f"x{n}"} for n in range(MEMBERS)]

    def fans(listed: object) -> object:
        return read("bmc_cooling", DGX, {uri: {**thermal, "Fans": listed}})["fan"]

    cut = fans([*parts, *more])
    assert isinstance(cut, Unknown)
    assert cut.reason is Reason.TOO_LARGE
    assert isinstance(fans([*parts, "x"]), Unknown)
    whole = fans(parts)
    assert isinstance(whole, tuple)
    assert fans(None) == read("bmc_cooling", DGX, {uri: GONE})["fan"] == whole


def test_an_older_list_with_an_invalid_entry_may_have_more_supplies_than_the_newer_one() -> None:
    alike: dict[str, object] = {"SerialNumber": "A5"}
    assert isinstance(both(alike, alike, "x")["psu"], Unknown)


@pytest.mark.parametrize("name", [DGX, GB200, LENOVO, HPE_INTEL])
def test_supplies_and_fans_that_two_schemas_list_count_once(name: str) -> None:
    for probe, fact in (("bmc_power", "psu"), ("bmc_cooling", "fan")):
        found = read(probe, name)[fact]
        if isinstance(found, tuple):
            assert len(found) == len({str(each).rpartition(":")[2] for each in found})


def test_a_firmware_entry_that_does_not_exist_has_no_known_evidence() -> None:
    place = f"{FIRMWARE}/{members('bmc_firmware', DELL, FIRMWARE)[0]['@odata.id'].rpartition('/')[2]}"
    before = read("bmc_firmware", DELL)
    after = read("bmc_firmware", DELL, {place: GONE})
    evidence = [path for path in before if path.endswith(".function_by") and place.rpartition("/")[2] in path]
    assert evidence
    assert all(isinstance(after[path], Unknown) for path in evidence)


def test_a_machine_none_of_whose_sensors_exist_has_no_known_list_of_those_beyond_their_limits() -> None:
    shelf = f"{CHASSIS}/PowerShelf_0"
    gone = read("bmc_beyond", DELTA, {f"{shelf}/Sensors": GONE})
    assert all("404" in str(gone[path]) and isinstance(gone[path], Unknown) for path in ("bmc.beyond", "bmc.near"))
    one = f"{shelf}/Sensors/a"
    sensor = {"Name": "a", "ReadingType": "Temperature", "ReadingUnits": "Cel", "Reading": 20.0}
    there = read("bmc_beyond", DELTA, {f"{shelf}/Sensors": collection(link(one)), one: sensor})
    assert there["bmc.beyond"] == there["bmc.near"] == ()
