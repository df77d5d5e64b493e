"""Recorded bodies with values of other types, nulls, gaps, renamed and huge: nothing fails, and nothing passes falsely."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial

import depth
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from noted import Noted
from trees import ALL, BLUEFIELD, DELTA, DMTF, HPE_AMD, NVSWITCH, X10, bmc_probes, read

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Absent, Unknown
from rackcheck.model.resource import Body, inside
from rackcheck.model.secret import DROPPED
from rackcheck.model.tree import Leaf
from rackcheck.probe.collect import collect
from rackcheck.transport.redfish.answer import parsed

TIME = "2026-01-01T00:00:00Z"
SMALL = (X10, DELTA, DMTF, BLUEFIELD, NVSWITCH, HPE_AMD)
MOST = (*ALL, *SMALL * 3)
"""All trees, the small ones more often: an example of a large one takes five times as long."""

QUICK, MANY = 60, depth.examples(28, 700)
"""Examples of each of the two laws, of about five bodies each; the many are tried twice, each time on half of the trees."""

BODIES = depth.examples(100, 2500)
"""Least number of mutated bodies in each of the four long tests: 10,000 in all with all cases."""

Bodies = Mapping[str, Body | Unknown]
Place = tuple[str, tuple[str | int, ...]]
"""A URI, and the path from its body to one value."""


@dataclass(frozen=True)
class Base:
    """One BMC as it was recorded: its bodies, what each probe read of them, and in which.

    `places` are all values, `sources` those that a fact was read from.
    """

    bodies: Bodies
    leaves: Mapping[str, Mapping[str, Leaf]]
    readers: Mapping[str, tuple[str, ...]]
    places: tuple[Place, ...] = field(repr=False)
    sources: tuple[Place, ...] = field(repr=False)


@cache
def base(name: str) -> Base:
    held = read(name).bodies
    leaves: dict[str, Mapping[str, Leaf]] = {}
    readers: dict[str, list[str]] = {}
    for probe in bmc_probes().values():
        noted = Noted(held)
        leaves[probe.name] = collect([probe], BmcCapture(noted))
        for uri in noted.seen:
            readers.setdefault(uri, []).append(probe.name)
    values = {uri: body for uri, body in held.items() if isinstance(body, Mapping) and uri in readers}
    places = tuple((uri, way) for uri, body in values.items() for way in ways(body))
    named = {leaf.source for read_ones in leaves.values() for leaf in read_ones.values()}
    sources = tuple((uri, way) for uri, way in places if inside(uri, *map(str, way)) in named)
    return Base(held, leaves, {uri: tuple(names) for uri, names in readers.items()}, places, sources)


def ways(value: object, way: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path to every value inside a body."""
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield (*way, name)
        yield from ways(each, (*way, name))


def put(value: object, way: tuple[str | int, ...], change: Callable[[object], object]) -> object:
    """A copy of a value with the one at a path replaced."""
    if not way:
        return change(value)
    name, *rest = way
    if isinstance(value, Mapping):
        return {k: put(v, tuple(rest), change) if k == name else v for k, v in value.items()}
    assert isinstance(value, list)
    return [put(v, tuple(rest), change) if k == name else v for k, v in enumerate(value)]


def at(value: object, way: tuple[str | int, ...]) -> object:
    for name in way:
        value = value[name]  # type: ignore[index]
    return value


LESS: Mapping[str, Callable[[object], object]] = {
    "null": lambda _: None,
    "in a list": lambda value: [value],
    "in an object": lambda value: {"xyzzy": value},
    "another type": lambda value: 7 if isinstance(value, str | list | Mapping) else None if value is None else "xyzzy",
    "N/A": lambda _: "N/A",
}
"""Values of another kind than the original."""

ODD: Mapping[str, Callable[[object], object]] = {
    **LESS,
    "empty list": lambda _: [],
    "empty object": lambda _: {},
    "empty text": lambda _: "",
    "odd text": lambda _: "\u202e\x00\x1b[31m/..\\%00",
    "long text": lambda _: "x" * 100_000,
    "huge": lambda _: 10**400,
    "far": lambda _: 1e308,
    "negative": lambda _: -(2**63),
    "fraction": lambda _: 1e-320,
    "link elsewhere": lambda _: {"@odata.id": "https://elsewhere/redfish/v1"},
    "link to the root": lambda _: {"@odata.id": "/redfish/v1"},
    "link upwards": lambda _: {"@odata.id": "/redfish/v1/../../etc/passwd"},
    "many": lambda value: [value] * (300 if len(json.dumps(value)) < 10_000 else 2),
    "nested": lambda value: [[[[[{"a": [value]}]]]]],
    "slashes": lambda _: "a/b/*/../c d",
    "star": lambda _: "*",
}


def after(name: str, changes: Mapping[str, Body | Unknown]) -> tuple[dict[str, Leaf], dict[str, Leaf]]:
    """What the probes that use one of these resources read, before and now."""
    known, found = base(name), bmc_probes()
    probes = sorted({probe for uri in changes for probe in known.readers[uri]})
    before = {path: leaf for probe in probes for path, leaf in known.leaves[probe].items()}
    # All in one call, in which they share the links that they follow.
    return before, collect([found[probe] for probe in probes], BmcCapture({**known.bodies, **changes}))


def body_of(value: object) -> Body | Unknown:
    """A body after transport: sent as JSON, and read."""
    return parsed(json.dumps(value).encode())


def crashed(now: Mapping[str, Leaf]) -> list[str]:
    rows = ((path, leaf.reading) for path, leaf in now.items())
    return [f"{path}: {r.detail}" for path, r in rows if isinstance(r, Unknown) and " failed: " in r.detail]


def false(name: str, lessened: list[tuple[Place, str]]) -> list[str]:
    """The facts that wrongly have a value: read from an invalid one, or known only because less data is there."""
    held, bodies, spots = base(name).bodies, dict[str, Body | Unknown](), list[str]()
    for (uri, way), kind in lessened:
        value = at(held[uri], way)
        changed = LESS[kind](value)
        if uri in bodies or changed == value or (isinstance(value, str) and value.startswith("/redfish")):
            continue
        bodies[uri] = body_of(put(held[uri], way, LESS[kind]))
        spots.append(inside(uri, *map(str, way)))
    before, now = after(name, bodies)
    found = crashed(now)
    for path, leaf in now.items():
        was = before.get(path)
        known = not isinstance(leaf.reading, Unknown | Absent) and leaf.reading != DROPPED
        if was is None or not known:
            continue
        if leaf.reading == was.reading and any(
            leaf.source == spot or leaf.source.startswith(f"{spot}/") for spot in spots
        ):
            found.append(f"{path} is still {leaf.reading!r}")
        # As the BIOS spells it: there, "N/A" may be the value itself.
        spelt = path.startswith("bios.attribute/") and leaf.source in spots
        if isinstance(was.reading, Unknown) and not spelt:
            found.append(f"{path} was unknown ({was.reading.detail}) and is {leaf.reading!r}")
    return [f"{name}: {each}" for each in found]


@cache
def places(name: str) -> st.SearchStrategy[Place]:
    return st.sampled_from(base(name).places)


@cache
def sources(name: str) -> st.SearchStrategy[Place]:
    return st.sampled_from(base(name).sources)


@st.composite
def cases(draw: st.DrawFn, names: tuple[str, ...]) -> tuple[str, list[tuple[Place, str]]]:
    """A BMC, with one invalid value in up to nine of its bodies."""
    name = draw(st.sampled_from(names))
    lessened = st.tuples(sources(name) | places(name), st.sampled_from(sorted(LESS)))
    return name, draw(st.lists(lessened, min_size=1, max_size=9, unique_by=lambda each: each[0][0]))


@st.composite
def wild(draw: st.DrawFn, names: tuple[str, ...]) -> tuple[str, list[tuple[Place, str]], list[Place]]:
    """A BMC with some values changed, and some properties renamed or removed."""
    name = draw(st.sampled_from(names))
    changed = st.tuples(places(name), st.sampled_from(sorted(ODD)))
    return name, draw(st.lists(changed, min_size=1, max_size=8)), draw(st.lists(places(name), max_size=4))


def survived(name: str, changed: list[tuple[Place, str]], renamed: list[Place]) -> list[str]:
    """The probes that raised an exception on such bodies."""
    bodies: dict[str, object] = {}
    for (uri, way), kind in changed:
        held = bodies.get(uri, base(name).bodies[uri])
        if way in set(ways(held)):
            bodies[uri] = put(held, way, ODD[kind])
    for uri, way in renamed:
        held = bodies.get(uri, base(name).bodies[uri])
        if way in set(ways(held)) and isinstance(way[-1], str):
            bodies[uri] = put(held, way[:-1], partial(other_name, name=way[-1]))
    _, now = after(name, {uri: body_of(body) for uri, body in bodies.items()})
    assert all(len(path) <= 1000 for path in now)
    return crashed(now)


def other_name(outer: object, name: str) -> object:
    """The same object with one property renamed, or every second time removed."""
    assert isinstance(outer, Mapping)
    if len(outer) % 2:
        return {k: v for k, v in outer.items() if k != name}
    return {(k.swapcase() if k == name else k): v for k, v in outer.items()}


def examples(count: int) -> settings:
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", SMALL)
def test_facts_state_which_value_they_were_read_from(name: str) -> None:
    assert len(base(name).sources) >= 20


@examples(QUICK)
@given(cases(SMALL))
def test_what_is_no_value_makes_no_fact_known_and_leaves_none_as_it_was(
    case: tuple[str, list[tuple[Place, str]]],
) -> None:
    assert false(*case) == []


@examples(QUICK)
@given(wild(SMALL))
def test_no_probe_fails_over_odd_bodies(case: tuple[str, list[tuple[Place, str]], list[Place]]) -> None:
    assert survived(*case) == []


@pytest.mark.slow
@pytest.mark.parametrize("half", [0, 1])
def test_of_thousands_of_bodies_with_what_is_no_value_none_makes_a_fact_known(half: int) -> None:
    tried: list[Place] = []

    @examples(MANY)
    @given(cases(MOST[half::2]))
    def law(case: tuple[str, list[tuple[Place, str]]]) -> None:
        tried.extend(place for place, _ in case[1])
        assert false(*case) == []

    law()
    assert len(tried) >= BODIES


@pytest.mark.slow
@pytest.mark.parametrize("half", [0, 1])
def test_of_thousands_of_odd_bodies_none_makes_a_probe_fail(half: int) -> None:
    tried: list[str] = []

    @examples(MANY * 3 // 2)
    @given(wild(MOST[half::2]))
    def law(case: tuple[str, list[tuple[Place, str]], list[Place]]) -> None:
        _, changed, renamed = case
        tried.extend({uri for uri, _ in [*(place for place, _ in changed), *renamed]})
        assert survived(*case) == []

    law()
    assert len(tried) >= BODIES
