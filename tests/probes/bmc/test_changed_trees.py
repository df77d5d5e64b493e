"""Recorded BMCs after random changes: each fact keeps its value, or is unknown for the changed part alone."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import depth
import pytest
from changed_tree import GONE, V1
from changed_trees import Change, Outcome, base, compared, shown
from tree_changes import KINDS, changes, twins, without_storage
from trees import ALL, BLUEFIELD, DELL, DMTF, LENOVO, SUPERMICRO, X10

from rackcheck.model.fact import Unknown
from rackcheck.model.resource import Body

SEED, EACH, FEW = 1, depth.examples(11, 22), 11
"""Changes of each BMC, in `make full` twice each kind and otherwise once; and of two of them for each change of the code."""


def wrong(name: str, count: int) -> list[str]:
    known = base(name)
    rows = ((change, each) for _, change in changes(known, SEED, count) for each in compared(known, change))
    return [f"{change.what}: {each}" for change, each in rows if each.outcome is Outcome.WRONG]


@pytest.mark.parametrize("name", [DMTF, X10])
def test_a_changed_bmc_has_its_facts_or_leaves_the_changed_part_unknown(name: str) -> None:
    assert not wrong(name, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_each_recorded_bmc_after_many_changes_has_its_facts_or_leaves_the_changed_part_unknown(name: str) -> None:
    assert not wrong(name, EACH)


def test_changes_are_the_same_for_the_same_seed_and_of_every_kind() -> None:
    first, again, other = (changes(base(DELL), seed, 30) for seed in (1, 1, 2))
    assert first == again != other
    assert {kind for name in (DELL, X10) for kind, _ in changes(base(name), 1, 30)} == set(KINDS)


# The comparison finds what is wrong


def outcomes(change: Change) -> Counter[Outcome]:
    return Counter(each.outcome for each in compared(base(DELL), change))


SYSTEM = f"{V1}/Systems/System.Embedded.1"
MODULE = f"{SYSTEM}/Memory/DIMM.Socket.A1"


def test_a_part_that_is_lost_is_unknown_alone_and_wrong_if_nothing_of_it_may_be() -> None:
    lost = Change("lost", {MODULE: GONE}, (MODULE,), totals=True)
    assert outcomes(lost)[Outcome.PART] > 3
    assert outcomes(lost)[Outcome.WRONG] == 0
    assert outcomes(replace(lost, parts=()))[Outcome.WRONG] > 3


def test_another_value_a_new_item_and_one_less_are_wrong() -> None:
    held = base(DELL).bodies
    other = Change("larger", {MODULE: {**held[MODULE], "CapacityMiB": 1}}, (MODULE,), totals=True)
    assert outcomes(other)[Outcome.WRONG] == 1
    place = f"{SYSTEM}/Memory"
    fewer = Change("fewer", {place: {**held[place], "Members": held[place]["Members"][1:], "Members@odata.count": 15}})
    assert outcomes(fewer)[Outcome.WRONG] > 3
    new = {**held[MODULE], "Id": "new", "SerialNumber": "X9", "DeviceLocator": "X9"}
    members = [*held[place]["Members"], {"@odata.id": f"{MODULE}x"}]
    more = {f"{MODULE}x": new, place: {**held[place], "Members": members, "Members@odata.count": 17}}
    assert outcomes(Change("more", more, totals=True))[Outcome.WRONG] > 3


def test_a_difference_that_is_given_as_a_temperature_is_wrong() -> None:
    sensor = next(uri for uri, body in base(DELL).bodies.items() if "/Sensors/" in uri and "Temp" in uri)
    same = Change("nothing", {sensor: base(DELL).bodies[sensor]}, (sensor,))
    assert outcomes(same)[Outcome.WRONG] == 0
    assert outcomes(replace(same, distance=True))[Outcome.WRONG] > 0


# What the comparison permits, it permits with the same values alone


def on(name: str, change: Change) -> set[str]:
    """The paths of wrong facts."""
    return {each.path for each in compared(base(name), change) if each.outcome is Outcome.WRONG}


CHASSIS = f"{V1}/Chassis/Bluefield_BMC"
CARD = f"{V1}/Chassis/Card1/NetworkAdapters/NvidiaNetworkAdapter"


def test_an_adapter_that_is_no_longer_named_after_its_chassis_has_the_values_that_it_had() -> None:
    lost = Change("lost", {CHASSIS: GONE}, (CHASSIS,), totals=True, may_hide=True, collection=f"{V1}/Chassis")
    assert not on(BLUEFIELD, lost)
    assert "bmc.nic/NvidiaNetworkAdapter.manufacturer" in on(BLUEFIELD, replace(lost, may_hide=False))
    other = {**base(BLUEFIELD).bodies[CARD], "Manufacturer": "Other"}
    assert on(BLUEFIELD, replace(lost, bodies={CHASSIS: GONE, CARD: other})) == {
        "bmc.nic/NvidiaNetworkAdapter.manufacturer"
    }


def test_devices_of_simple_storage_serve_for_drives_with_their_own_values() -> None:
    storage, simple = f"{SYSTEM}/Storage", f"{SYSTEM}/SimpleStorage"
    lost = without_storage(
        base(DELL), Change("lost", {storage: GONE}, (storage,), totals=True, may_hide=True, collection=storage)
    )
    assert lost.instead == (simple,)
    assert not on(DELL, lost)
    assert on(DELL, replace(lost, instead=()))
    held = base(DELL).capture.bodies
    listed = held[simple]
    assert isinstance(listed, Mapping)
    uri, body = next(
        (uri, held[uri]) for each in listed["Members"] if (uri := each["@odata.id"]) and _devices(held[uri])
    )
    assert isinstance(body, Mapping)
    other = {**body, "Devices": [{**each, "Model": "Other"} for each in _devices(body)]}
    found = on(DELL, replace(lost, bodies={storage: GONE, uri: other}))
    assert found
    assert all(path.endswith(".model") for path in found)


def _devices(body: Body | Unknown) -> list[dict[str, object]]:
    return [] if isinstance(body, Unknown) else list(body["Devices"])


def test_both_entries_of_one_firmware_of_a_dell_are_renamed_together() -> None:
    inventory = f"{V1}/UpdateService/FirmwareInventory"
    name = "108255-21.80.9__NIC.Embedded.1-1-1"
    assert twins(base(DELL), f"{inventory}/Installed-{name}") == [f"{inventory}/Current-{name}"]
    assert twins(base(DELL), f"{SYSTEM}/Memory/DIMM.Socket.A1") == []


def test_what_is_found_by_a_name_may_be_unknown_after_a_renaming_and_not_another_value() -> None:
    held = base(DELL).bodies[MODULE]
    less = Change("less", {MODULE: {**held, "CapacityMiB": None}}, totals=True)
    assert on(DELL, less)
    assert not on(DELL, replace(less, by_name=True))
    assert on(DELL, replace(less, bodies={MODULE: {**held, "CapacityMiB": 1}}, by_name=True))


def test_a_lost_part_may_be_listed_by_its_uri_and_by_no_other_name() -> None:
    sensor = f"{V1}/Chassis/1U/Sensors/CPU1Temp"  # its Id is CPUTemp1, and all others are as in their URIs
    lost = Change("lost", {sensor: GONE}, (sensor,), totals=True, may_hide=True, collection=sensor.rpartition("/")[0])
    assert not on(DMTF, lost)
    assert "bmc.sensor" in on(DMTF, replace(lost, parts=(f"{sensor}x",)))


def test_an_id_that_was_evidence_of_a_function_may_be_none_after_a_renaming_and_the_function_is_the_same() -> None:
    entry = f"{V1}/UpdateService/FirmwareInventory/BIOS"
    known = base(SUPERMICRO)
    new = {**known.bodies[entry], "Id": "BIOSq7"}
    renamed = Change("renamed", {entry: new}, renamed=((entry, f"{entry}q7"),))
    assert not on(SUPERMICRO, renamed)
    assert on(SUPERMICRO, replace(renamed, bodies={entry: {**new, "Name": "Board controller"}}))


def test_a_fact_that_is_unknown_for_a_reason_that_names_the_lost_part_is_right_and_another_value_is_wrong() -> None:
    slot = f"{V1}/Chassis/1/PCIeDevices/slot_3"
    lost = Change("lost", {slot: GONE}, (slot,), totals=True, may_hide=True, collection=slot.rpartition("/")[0])
    assert not on(LENOVO, lost)
    other = {**base(LENOVO).bodies[slot], "Name": "A riser"}
    assert any(".function" in path for path in on(LENOVO, replace(lost, bodies={slot: other})))


def test_shorter_evidence_is_no_other_evidence() -> None:
    two, one = ("Chassis/*.Model is 'A', 'B'",), ("Chassis/*.Model is 'B'",)
    assert shown(one) < shown(two)
    assert not shown(two) < shown(one)
    assert not shown(("Chassis/*.Model is 'C'",)) < shown(two)
    assert not shown(("Systems/*.Model is 'B'",)) < shown(two)
