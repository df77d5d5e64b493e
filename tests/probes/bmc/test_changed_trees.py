"""Recorded BMCs after random changes: each fact keeps its value, or is unknown for the changed part alone."""

from collections import Counter
from dataclasses import replace

import pytest
from changed_tree import GONE, V1
from changed_trees import Change, Outcome, base, compared
from tree_changes import KINDS, changes
from trees import ALL, DELL, DMTF, X10

SEED, EACH, FEW = 1, 22, 11
"""Changes of each BMC that are tried by `make full` (twice each kind), and of two of them by default (once)."""


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
