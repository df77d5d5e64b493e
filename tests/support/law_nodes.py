"""The facts of one node, read once or twice, and every way to remove some of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf

from hypothesis import strategies as st
from law_facts import CATALOGUE, KEYS, VALUES
from law_rules import pick

from rackcheck.model.catalogue import Type
from rackcheck.model.fact import Absent, Class, Plane, Reading, Reason, Unknown, Value
from rackcheck.model.path import parse
from rackcheck.model.profile import Rule
from rackcheck.model.tree import Later, Leaf, Tree
from rackcheck.probe.join import Join, derive
from rackcheck.probe.plan import Plan

HIDDEN = Unknown(Reason.DENIED, "taken away")
TIME = "2026-01-01T00:00:00Z"
PLANES = (Plane.OS, Plane.BMC)

World = dict[str, Leaf]
Span = tuple[float, float]


@dataclass(frozen=True)
class NodeFacts:
    """A node's facts by path, read once or twice; planes that failed; and the time between the readings."""

    first: Mapping[str, Leaf]
    second: Mapping[str, Leaf] | None = None
    silent: Mapping[Plane, Unknown] = field(default_factory=dict)
    silent_then: Mapping[Plane, Unknown] = field(default_factory=dict)
    apart: Mapping[Plane, Span] = field(default_factory=dict)

    def tree(self, joins: Iterable[Join] = ()) -> Tree:
        """The facts as they are judged, with derived facts."""
        whole = _followed(self.first, self.silent, joins)
        if self.second is None:
            return whole
        return replace(whole, later=Later(_followed(self.second, self.silent_then, joins), self.apart))

    def without(self, *paths: str, then: bool = False) -> "NodeFacts":
        """Hide facts; a collection path hides only its listing, an item (`box/0`) also removes the item's facts."""
        values = (self.second or {}) if then else self.first
        left = {p: leaf for p, leaf in values.items() if not any(p.startswith(f"{item}.") for item in paths)}
        left |= {p: replace(leaf, reading=HIDDEN) for p, leaf in left.items() if p in paths}
        return replace(self, second=left) if then else replace(self, first=left)

    def silenced(self, plane: Plane, *, then: bool = False) -> "NodeFacts":
        """Remove a whole plane; what failed in the first reading is not read again."""
        apart = {each: span for each, span in self.apart.items() if each is not plane}
        again = self.second
        if again is not None:
            again = {p: leaf for p, leaf in again.items() if leaf.plane is not plane}
        less = replace(self, second=again, silent_then={**self.silent_then, plane: HIDDEN}, apart=apart)
        if then:
            return less
        kept = {p: leaf for p, leaf in self.first.items() if leaf.plane is not plane}
        return replace(less, first=kept, silent={**self.silent, plane: HIDDEN})

    def gone(self) -> "NodeFacts":
        """Remove the whole node."""
        return self.silenced(Plane.OS).silenced(Plane.BMC)


def _followed(values: Mapping[str, Leaf], silent: Mapping[Plane, Unknown], joins: Iterable[Join]) -> Tree:
    joins = tuple(joins)
    read = Tree(values, silent)
    return Tree({**values, **derive(joins, read)}, silent) if joins else read


Way = tuple[str, Callable[[], NodeFacts]]


def each_taken(value: NodeFacts) -> Iterator[tuple[str, NodeFacts]]:
    """Every way to remove one thing: a fact, a listing with none, one or all of its items, a plane, the time span."""
    return ((word, less()) for word, less in ways(value))


def ways(value: NodeFacts) -> Iterator[Way]:
    """The same ways, each computed when called: of hundreds a test tries a few."""
    for then, leaves in ((False, value.first), (True, value.second or {})):
        when, tree = " then" if then else "", Tree(leaves)
        for path, leaf in leaves.items():
            yield path + when, partial(value.without, path, then=then)
            if leaf.kind.type is Type.COLLECTION:
                items = [str(item) for item in tree.select(parse(path), Plane.OS).items]
                for item in items:
                    yield f"{path} and {item}{when}", partial(value.without, path, item, then=then)
                yield f"{path} and all of it{when}", partial(value.without, path, *items, then=then)
    for plane in PLANES:
        yield plane.value, partial(value.silenced, plane)
        if value.second is not None:
            yield f"{plane} then", partial(value.silenced, plane, then=True)
    for plane, (least, most) in value.apart.items():
        for word, span in ((f"the exact time of {plane}", (least / 2, most * 2)), (f"the time of {plane}", (0.0, inf))):
            yield word, partial(replace, value, apart={**value.apart, plane: span})
    yield "the node", value.gone


def readings(values: Iterable[Value]) -> st.SearchStrategy[Reading]:
    """Usually a value; sometimes the fact is absent or unknown."""
    return st.sampled_from([*[v for v in values for _ in range(4)], Absent(), Unknown(Reason.TIMEOUT)])


HOMES = ("shelf/*.slot", "shelf", "box", "far", "gpu", "leak")


def _word(path: str) -> str:
    return parse(path).segments[-1].word


def _leaf(path: str, reading: Reading) -> Leaf:
    entry = CATALOGUE.find(parse(path))
    assert entry is not None
    return Leaf(reading, entry.kind, entry.plane, f"cat {path}")


@st.composite
def world_of(draw: st.DrawFn, wanted: Iterable[str]) -> World:
    """A node's facts, of those requested; none for derived facts."""
    world: World = {}
    asked = sorted(
        path for path in wanted if (entry := CATALOGUE.find(parse(path))) and entry.plane is not Plane.DERIVED
    )

    def listed(collection: str) -> list[str]:
        keys = draw(st.lists(st.sampled_from(KEYS[_word(collection)]), unique=True))
        state = pick(draw, ["whole", "whole", "whole", "whole", "partial", "absent"])
        listing: Reading = tuple(sorted(keys))
        if state == "partial":
            listing = Unknown(Reason.NOT_READ_FURTHER)
        elif state == "absent" and not keys:
            listing = Absent("no such thing")
        world[collection] = _leaf(collection, listing)
        return [f"{collection}/{key}" for key in sorted(keys)]

    few: dict[str, st.SearchStrategy[Reading]] = {}

    def put(path: str, name: str) -> None:
        # A machine has the same value in most places: two or three values of a kind, not all of them.
        if name not in few:
            few[name] = readings(draw(st.lists(st.sampled_from(VALUES[name]), min_size=1, max_size=3)))
        world[path] = _leaf(path, draw(few[name]))

    items: dict[str, list[str]] = {}
    for home in ("shelf", "box", "far", "gpu", "leak"):
        if any(path.startswith((f"{home}/", f"{home}.")) or path == home for path in asked):
            items[home] = listed(home)
            if home == "shelf":
                items["shelf/*.slot"] = [i for shelf in items["shelf"] for i in listed(f"{shelf}.slot")]
    for path in asked:
        if _leaf(path, ()).kind.type is Type.COLLECTION:
            continue
        pattern = str(parse(path).pattern)
        home = next((c for c in HOMES if pattern.startswith(f"{c}/*.")), "")
        if not home:
            put(path, _word(path))
            continue
        rest = pattern.removeprefix(f"{home}/*.")
        for item in items[home]:
            if f"{item}.{rest}" not in world and draw(st.integers(0, 11)):
                put(f"{item}.{rest}", _word(path))
    return world


@st.composite
def changed(draw: st.DrawFn, world: World, most: int) -> World:
    """Similar facts, as of a neighbour node, or of the same node a moment later."""
    found = dict(world)
    for _ in range(draw(st.integers(0, most)) if world else 0):
        path = pick(draw, sorted(world))
        leaf = found.get(path)
        if leaf is None:
            continue
        if leaf.kind.type is not Type.COLLECTION:
            found[path] = replace(leaf, reading=draw(readings(VALUES[_word(path)])))
        elif isinstance(leaf.reading, tuple) and leaf.reading:
            key = pick(draw, leaf.reading)
            found = {p: each for p, each in found.items() if not p.startswith(f"{path}/{key}.")}
            found[path] = replace(leaf, reading=tuple(k for k in leaf.reading if k != key))
        else:
            held = any(p.startswith(f"{path}/") for p in found)  # facts of items outside a listing are not reported
            found[path] = replace(leaf, reading=HIDDEN if held or draw(st.booleans()) else ())
    return found


SPANS: st.SearchStrategy[Span] = st.sampled_from(
    [(3600.0, 3600.0), (60.0, 60.0), (59.0, 61.0), (3598.0, 3602.0), (0.0, 7200.0), (0.0, inf)]
)
"""Least and most seconds between two readings: exact, within bounds, or unknown."""


def wanted_by(found: Iterable[Rule]) -> set[str]:
    """Every fact that rules read."""
    return set().union(*({str(fact) for fact in rule.facts() | rule.kin()} for rule in found))


def worlds(asked: Iterable[Rule]) -> st.SearchStrategy[World]:
    """The facts of a node in one reading, of those that rules read."""
    return world_of(wanted_by(asked))


def facts_to_read(chosen: Plan) -> set[str]:
    """The facts to read from a node: those of a plan, and those that they are derived from."""
    needs = [*(each.needs for each in chosen.joins), *(each.needs for each in chosen.gatherings)]
    return {*map(str, chosen.wanted), *(need for several in needs for need in several)}


RISES = (0, 0, 1, 60)
"""Increase of every counter between two readings, beside other changes."""


def risen(world: World, by: int) -> World:
    """The same facts, with every counter that has a number increased by this much."""
    return {
        path: replace(leaf, reading=leaf.reading + by)
        if leaf.kind.cls is Class.COUNTER and isinstance(leaf.reading, int)
        else leaf
        for path, leaf in world.items()
    }


@st.composite
def read_twice(draw: st.DrawFn, world: World, again: Plan | None) -> NodeFacts:
    """The same node, read again where a run reads twice."""
    if again is None:
        return NodeFacts(world)
    patterns = {str(each.pattern) for path in map(parse, facts_to_read(again)) for each in (path, *path.collections)}
    kept = {path: leaf for path, leaf in world.items() if str(parse(path).pattern) in patterns}
    second = risen(draw(changed(kept, 4)), pick(draw, RISES))
    spans = {plane: draw(SPANS) for plane in PLANES if draw(st.integers(0, 9))}
    return NodeFacts(
        world, second, silent_then={p: HIDDEN for p in PLANES if p not in spans and draw(st.booleans())}, apart=spans
    )
