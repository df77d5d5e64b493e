"""What is read from a part of a reply is read once, and never depends on what another node returned."""

from collections.abc import Mapping
from typing import Any

import depth
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rack_runs import folder
from trees import ALL, read

from rackcheck.model import by_part as kept
from rackcheck.model.by_part import Fixed, by_part, of_part
from rackcheck.model.capture import BmcCapture, Capture, NodeCapture, Output
from rackcheck.model.catalogue import integer, text
from rackcheck.model.fact import Fact, Facts, Part, Reason, Unknown, Unreadable, single
from rackcheck.model.question import Redfish, Shell
from rackcheck.model.recently_used import RecentlyUsed
from rackcheck.model.resource import LARGEST, Body, Resource
from rackcheck.model.tree import Collected
from rackcheck.probe.collect import collected
from rackcheck.probe.contract import AnyProbe, probe
from rackcheck.probe.kept_readings import kept_readings
from rackcheck.probe.registry import registry
from rackcheck.run import store

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, -0.0, 1.0, float("nan")]) | st.text("ab"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
)


@pytest.fixture
def calls() -> list[object]:
    return []


def reader(calls: list[object]) -> Any:
    @by_part
    def facts(path: str, part: object) -> Facts:
        calls.append(part)
        yield f"{path}.a", repr(part)
        yield f"{path}.b", 1

    return facts


# ---- equal parts


def test_equal_parts_are_read_once_and_have_the_same_facts(calls: list[object]) -> None:
    facts = reader(calls)
    one = facts("x", {"a": [1, {"b": None}]})
    assert facts("x", {"a": [1, {"b": None}]}) is one
    assert list(one) == [("x.a", "{'a': [1, {'b': None}]}"), ("x.b", 1)]
    assert facts("y", {"a": [1, {"b": None}]}) is not one
    assert len(calls) == 2


@given(JSON, JSON)
def test_parts_that_python_shows_differently_are_read_apart(one: object, other: object) -> None:
    """In Python, True == 1 == 1.0, and a dictionary is equal to one with another order."""
    facts = reader([])
    shown = [dict(single(iter([facts("x", part)])))["x.a"] for part in (one, other, one)]
    assert shown == [repr(one), repr(other), repr(one)]


def test_a_resource_is_known_by_its_uri_its_body_and_the_resource_beside_it(calls: list[object]) -> None:
    facts = reader(calls)
    rack = Resource("/chassis", {"Id": "rack"})
    beside = Resource("/old", {"Name": "x"})
    lost = Unknown(Reason.TIMEOUT, "late")
    different = [
        Resource("/a", {"Id": "1"}),
        Resource("/b", {"Id": "1"}),
        Resource("/a", {"Id": 1}),
        Resource("/a", {"Id": "1"}, lost),
        Resource("/a", {"Id": "1"}, heard="2026-01-01T00:00:00Z"),
        Resource("/a", {"Id": "1"}, beside=beside),
        Resource("/a", {"Id": "1"}, beside=Resource("/old", {"Name": "y"})),
    ]
    assert len({id(facts("x", each)) for each in different}) == len(different)
    for each in different:
        facts("x", Resource(each.uri, each.body, each.trouble, rack, each.heard, each.beside))
    assert len(calls) == len(different)


def test_a_part_is_read_without_the_resources_above_it(calls: list[Any]) -> None:
    rack = Resource("/chassis", {"Id": "rack"})
    reader(calls)("x", Resource("/a", {}, above=rack, beside=Resource("/b", {}, above=rack)))
    (seen,) = calls
    assert (seen.above, seen.beside.above, seen.owner) == (None, None, None)


def test_what_is_fixed_is_known_by_its_identity_and_kept_alive(calls: list[object]) -> None:
    facts = reader(calls)
    first = Fixed()
    assert facts("x", first) is facts("x", first)
    for _ in range(100):
        facts("x", Fixed())  # a new object may get the place of one that is gone
    assert len(calls) == 101


def test_what_is_no_part_is_an_error_of_the_program(calls: list[object]) -> None:
    with pytest.raises(TypeError, match="no part of a reply: <object"):
        reader(calls)("x", object())
    with pytest.raises(TypeError, match="passed by position, not as part"):
        reader(calls)("x", part=1)
    assert calls == []


def test_what_is_not_json_or_nested_too_deep_is_read_each_time(calls: list[object]) -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]

    @of_part
    def number(part: object) -> int:
        calls.append(part)
        return len(calls)

    odd = {"a": object()}
    assert [number(odd), number(odd), number(deep), number(deep)] == [1, 2, 3, 4]
    assert [number(Resource("/a", {"x": deep})), number(Resource("/a", {"x": deep}))] == [5, 6]


def test_a_large_part_is_read_each_time_and_not_copied(calls: list[object]) -> None:
    facts = reader(calls)
    large = Resource("/a", {"x": "y" * LARGEST})
    assert large.content is None
    for part in (large, large.body, "y" * LARGEST):
        before = len(calls)
        assert facts("x", part) is not facts("x", part)
        assert len(calls) == before + 2


# ---- errors


def test_an_error_is_raised_each_time_after_the_facts_before_it() -> None:
    @by_part
    def facts(path: str) -> Facts:
        yield f"{path}.a", 1
        raise Unreadable("the rest is missing")

    for _ in range(2):
        found: list[Fact] = []
        with pytest.raises(Unreadable, match="the rest is missing"):
            found.extend(facts("x"))
        assert found == [("x.a", 1)]


# ---- memory


def test_parts_of_a_million_nodes_stay_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "kept_parts", RecentlyUsed[Any](100_000))
    facts = reader([])
    for number in range(1000):
        facts("x", "t" * 100 + str(number))
    assert 0 < kept.kept_parts._size <= 100_000


# ---- never another node's facts


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read each part whole and each time, as if it could not be kept."""
    monkeypatch.setattr(kept, "kept_parts", RecentlyUsed[Any](0))
    monkeypatch.setattr(Resource, "with_body", lambda self, _: self)


def found_in(capture: Capture, probes: list[AnyProbe]) -> list[Collected]:
    return [collected([each], capture, (), []) for each in probes]


def same(one: list[Collected], other: list[Collected], probes: list[AnyProbe]) -> None:
    assert any(each.leaves for each in one)
    for each, mine, theirs in zip(probes, one, other, strict=True):
        assert mine.leaves == theirs.leaves, each.name
        assert [*map(repr, mine.leaves.items())] == [*map(repr, theirs.leaves.items())], each.name
        assert mine.items == theirs.items, each.name


CHANGED: Mapping[str, tuple[object, ...]] = {
    **dict.fromkeys(
        ("Reading", "ReadingCelsius", "ReadingVolts"), (-4, -0.5, 0, 1, 2.5, 1e9, 1e16, -1e16, True, None, "12", "-7")
    ),
    "State": ("Enabled", None, 5, "Absent", "", "Enabled", "StandbyOffline"),
    "SerialNumber": ("A1B2C3D4", "0000", "", "N/A", "Not Present", "  X77  ", "NIL", 5, None, "\ufffd12345"),
}
"""Properties that are read apart from the other ones of their resource, and values that they may have.

If the state of a part is unknown, its serial number shows whether the part is there.
"""


def changed(bodies: Mapping[str, Body | Unknown], turn: int) -> dict[str, Body | Unknown]:
    return {uri: other(body, turn + at) for at, (uri, body) in enumerate(bodies.items())}


def other(value: Any, turn: int) -> Any:
    if isinstance(value, list):
        return [other(each, turn + at) for at, each in enumerate(value)]
    if not isinstance(value, dict):
        return value
    return {
        name: CHANGED[name][turn % len(CHANGED[name])] if name in CHANGED else other(each, turn)
        for name, each in value.items()
    }


def bmc_probes() -> list[AnyProbe]:
    return [each for each in registry().probes if isinstance(each.ask, Redfish)]


@pytest.mark.parametrize("name", ALL)
def test_facts_of_a_recorded_bmc_whose_readings_and_serial_numbers_change(
    name: str, request: pytest.FixtureRequest
) -> None:
    probes = bmc_probes()
    held = read(name, None, *(each.name for each in probes)).bodies
    captures = [held, *(changed(held, turn) for turn in range(depth.examples(4, 12)))]
    by_parts = [found_in(BmcCapture(bodies), probes) for bodies in captures]
    again = [found_in(BmcCapture(bodies), probes) for bodies in captures]
    request.getfixturevalue("bare")
    for one, two, bodies in zip(by_parts, again, captures, strict=True):
        whole = found_in(BmcCapture(bodies), probes)
        same(one, whole, probes)
        same(two, whole, probes)


def test_facts_of_the_nodes_of_a_rack(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    probes = list(registry().probes)
    captures = [answer.capture for answer in store.find(str(folder() / "first")).answers() if answer.capture]
    kept_readings.clear()
    by_parts = [found_in(capture, probes) for capture in captures]
    request.getfixturevalue("bare")
    for one, capture in zip(by_parts, captures, strict=True):
        kept_readings.clear()
        same(one, found_in(capture, probes), probes)


def test_a_part_that_two_probes_read_has_leaves_of_its_own_for_each() -> None:

    @by_part
    def facts(path: str) -> Facts:
        yield path, 1

    def parse(_: str) -> Facts:
        yield facts("gpu.count")

    ask = Shell("a")
    whole, word = (probe(ask, gives={"gpu.count": kind})(parse) for kind in (integer("n"), text("n")))
    capture = NodeCapture({"a": Output(0, "x\n")})
    for _ in range(2):
        kept_readings.clear()
        number = collected([whole], capture, (), []).leaves["gpu.count"].reading
        odd = collected([word], capture, (), []).leaves["gpu.count"].reading
        assert number == 1
        assert isinstance(odd, Unknown)
    assert isinstance(facts("gpu.count"), Part)
