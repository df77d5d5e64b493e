"""What differs between two readings: its laws, and that a missing value is never a change."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.change import Change, ChangeKind, ComparedFacts, beyond, compare, folded, gathered, turned
from rackcheck.model.fact import Absent, Class, Reason, Unknown

SWAPPED = {
    ChangeKind.CHANGED: ChangeKind.CHANGED,
    ChangeKind.APPEARED: ChangeKind.GONE,
    ChangeKind.GONE: ChangeKind.APPEARED,
    ChangeKind.UNKNOWN_NOW: ChangeKind.KNOWN_AGAIN,
    ChangeKind.KNOWN_AGAIN: ChangeKind.UNKNOWN_NOW,
}

PATHS = ("a", "b.c", "gpu/0.serial", "gpu/1.serial", "gpu/*.serial", "nic", "nic/x.rate", "nic/x.port/1.up", "plane/os")
READINGS = st.one_of(
    st.builds(
        lambda v: {"value": v},
        st.one_of(st.booleans(), st.integers(0, 2), st.floats(0, 2), st.sampled_from(["x", "y"])),
    ),
    st.just({"value": ["x", "0"]}),
    st.just({"absent": True}),
    st.builds(lambda r: {"unknown": r.value}, st.sampled_from(list(Reason))),
)
DOCS = st.dictionaries(st.sampled_from(PATHS), READINGS.map(lambda d: {**d, "plane": "os"}), max_size=6)


def _facts(parts: list[dict[str, Any]]) -> ComparedFacts:
    seen: set[str] = set()
    found: dict[Class, dict[str, Any]] = {}
    for cls, docs in zip((Class.IDENTITY, Class.VERSION, Class.CONFIG), parts, strict=True):
        found[cls] = {p: d for p, d in docs.items() if p not in seen}
        seen |= docs.keys()
    return found


FACTS = st.lists(DOCS, min_size=3, max_size=3).map(_facts)


@given(FACTS)
def test_nothing_differs_from_itself(facts: ComparedFacts) -> None:
    assert list(compare(facts, facts)) == []


@given(FACTS, FACTS)
def test_swapping_the_sides_swaps_the_kinds(a: ComparedFacts, b: ComparedFacts) -> None:
    there = {(c.path, c.kind, repr(c.before), repr(c.after)) for c in compare(a, b)}
    back = {(c.path, SWAPPED[c.kind], repr(c.after), repr(c.before)) for c in compare(b, a)}
    assert there == back


@given(FACTS, FACTS)
def test_unknown_never_gives_changed_appeared_or_gone(a: ComparedFacts, b: ComparedFacts) -> None:
    for change in compare(a, b):
        unknown = isinstance(change.before, Unknown) or isinstance(change.after, Unknown)
        assert change.kind.uncertain == unknown


@given(FACTS, FACTS, st.sampled_from(PATHS))
def test_making_a_fact_unknown_never_makes_a_change_of_another_kind(
    a: ComparedFacts, b: ComparedFacts, path: str
) -> None:
    hidden = {
        cls: {p: ({"unknown": "denied", "plane": "os"} if p == path else d) for p, d in docs.items()}
        for cls, docs in b.items()
    }
    known = {(c.path, c.kind) for c in compare(a, b) if not c.kind.uncertain}
    assert {(c.path, c.kind) for c in compare(a, hidden) if not c.kind.uncertain} <= known


@given(FACTS, FACTS)
def test_a_difference_is_never_gathered_into_nothing(a: ComparedFacts, b: ComparedFacts) -> None:
    every = list(compare(a, b))
    assert bool(gathered(every)) == bool(every)
    assert any(c.kind.uncertain for c in every) == any(c.kind.uncertain for c in gathered(every))


def steady(**docs: Any) -> ComparedFacts:
    return {Class.CONFIG: {p.replace("__", "/").replace("_dot_", "."): d for p, d in docs.items()}}


def test_a_silent_plane_is_one_unknown_and_none_of_its_facts_is_gone() -> None:
    spoke = {"value": "answered", "plane": "bmc"}
    before = steady(
        plane__bmc=spoke, bios_dot_smt={"value": True, "plane": "bmc"}, bios_dot_nps={"value": 1, "plane": "bmc"}
    )
    after = steady(plane__bmc={"unknown": "timeout", "plane": "bmc"})
    (value,) = gathered(compare(before, after))
    assert (value.path, value.kind, value.after) == ("plane/bmc", ChangeKind.UNKNOWN_NOW, Unknown(Reason.TIMEOUT))


def test_a_removed_item_is_reported_once_without_its_facts_or_listing() -> None:
    item = {f"nic/b.{word}": {"value": 1, "plane": "os"} for word in ("rate", "mtu", "port/1.up")}
    before: ComparedFacts = {Class.CONFIG: {"nic": {"value": ["a", "b"], "plane": "os"}, **item}}
    after: ComparedFacts = {Class.CONFIG: {"nic": {"value": ["a"], "plane": "os"}}}
    assert [(c.path, c.kind) for c in gathered(compare(before, after))] == [("nic/b", ChangeKind.GONE)]


def test_items_of_a_listing_that_is_not_known_are_not_gone() -> None:
    before: ComparedFacts = {
        Class.CONFIG: {"nic": {"value": ["b"], "plane": "os"}, "nic/b.rate": {"value": 1, "plane": "os"}}
    }
    after: ComparedFacts = {Class.CONFIG: {"nic": {"unknown": "denied", "plane": "os"}}}
    assert [(c.path, c.kind) for c in gathered(compare(before, after))] == [("nic", ChangeKind.UNKNOWN_NOW)]


def test_a_fact_not_requested_on_one_side_is_unknown_there() -> None:
    (change,) = compare(steady(a={"value": 1, "plane": "os"}), steady())
    assert change.kind is ChangeKind.UNKNOWN_NOW


def test_true_is_not_one() -> None:
    (change,) = compare(steady(a={"value": True, "plane": "os"}), steady(a={"value": 1, "plane": "os"}))
    assert change.kind is ChangeKind.CHANGED


def test_a_number_in_another_unit_has_changed() -> None:
    one, other = ({"value": 1.0, "unit": unit, "plane": "os"} for unit in ("W", "kW"))
    (change,) = compare(steady(a=one), steady(a=other))
    assert change.kind is ChangeKind.CHANGED


def change(value: object, now: object, path: str = "gpu/0.serial", cls: Class = Class.IDENTITY) -> Change:
    return Change(path, cls, ChangeKind.CHANGED, value, now)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "percent", "expected"),
    [(100.0, 94.0, 5, True), (100.0, 96.0, 5, False), (100, 106, 5, True), (0.0, 1.0, 5, True), (0.0, 0.0, 5, False),
     (-10.0, -11.0, 5, True), ("x", "y", 5, False), (True, False, 5, False), (10**400, 1, 5, False)],
)  # fmt: skip
def test_a_measurement_drifts_beyond_its_share_alone(
    before: object, after: object, percent: float, expected: bool
) -> None:
    assert bool(list(beyond([change(before, after, "t", Class.MEASUREMENT)], percent))) is expected


def test_nodes_that_changed_alike_are_reported_in_one_line() -> None:
    same = [change(10, 60, "sysctl.vm.swappiness", Class.CONFIG)]
    other = [change(10, 0, "sysctl.vm.swappiness", Class.CONFIG)]
    found = folded({"n2": same, "n1": same, "n3": other})
    assert [(f.nodes, f.alike) for f in found] == [(("n1", "n2"), True), (("n3",), True)]
    (own,) = folded({"n1": [change("a", "b")], "n2": [change("c", "d")]})
    assert (own.nodes, own.alike) == (("n1", "n2"), False)


def test_a_rule_that_was_not_judged_before_has_turned() -> None:
    (turn,) = turned({}, {"a": "pass"})
    assert (turn.before, turn.after, turn.uncertain) == ("", "pass", False)
    assert turned({"a": "pass"}, {"a": "unknown"})[0].uncertain


def test_what_came_from_nothing_is_absent_before() -> None:
    (found,) = compare(steady(a={"absent": True, "plane": "os"}), steady(a={"value": 1, "plane": "os"}))
    assert (found.kind, found.before) == (ChangeKind.APPEARED, Absent())
