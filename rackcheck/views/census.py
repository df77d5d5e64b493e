"""Counts the nodes for each value of each fact; a set of nodes is an integer with one bit per node. Pure.

Nodes on which a fact is unknown are grouped by the reason, and never count for a majority. Absent counts as a value, as
in consensus rules.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from rackcheck.evaluate.consensus import FEWEST, most
from rackcheck.model import operator
from rackcheck.model import path as paths
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import VOLATILE, Absent, Class, Plane, Reading, Reason, Unknown
from rackcheck.model.text import natural
from rackcheck.model.tree import Leaf, Tree

KEPT = frozenset(Class) - VOLATILE
"""Classes of facts that are counted: all classes except measurements and counters."""

PLACES = ("rack", "row", "role", "slot", "pdu")
"""The fields of a node's location by which nodes are counted."""

LIKES = 4
"""Maximum number of nodes with which others are compared: one for each kind of machine."""

ABSENT = Absent()
"""The value that represents every absent value; details are ignored."""

_SPELT = frozenset({Unknown, Absent})
"""Types of values with a detail; details are ignored in comparisons."""

_UNKNOWN: Mapping[Reason, Unknown] = {reason: Unknown(reason) for reason in Reason}


@dataclass(frozen=True, slots=True)
class Majority:
    """The majority value of a role with `of` nodes: `count` nodes have the value, `known` nodes report any value."""

    value: Reading
    count: int
    known: int
    of: int

    @property
    def share(self) -> float:
        """The share of the role's nodes that have the value, 0 to 1; the total includes nodes without a reply."""
        return self.count / self.of


@dataclass(slots=True)
class _Fact:
    """The set of nodes for each value of a fact; a set of one node is stored as `~N`, where N is the node's number."""

    kind: Kind
    plane: Plane
    who: dict[Reading, int] = field(default_factory=dict)

    def forget(self, node: int) -> None:
        bit = 1 << node
        for value, held in list(self.who.items()):
            if held in {~node, bit}:
                del self.who[value]
            elif held >= 0 and held & bit:
                self.who[value] = held ^ bit


class _Like:
    """A node to which others are similar: their facts that are the same objects are counted together, later."""

    def __init__(self, leaves: Mapping[str, Leaf], planes: frozenset[Plane] | None) -> None:
        self.planes = planes
        self._leaves = leaves
        self._nodes = 0
        self._others: dict[str, int] = {}

    def differing(self, leaves: Mapping[str, Leaf]) -> list[tuple[str, Leaf]] | None:
        """Return the facts of a node that are not the same objects; None if they are more than half of its facts."""
        own = self._leaves
        changed = [(text, leaf) for text, leaf in leaves.items() if own.get(text) is not leaf]
        return changed if 2 * len(changed) <= len(leaves) else None

    def add(self, changed: Iterable[tuple[str, Leaf]], leaves: Mapping[str, Leaf], bit: int) -> None:
        """Note a node; `changed` are its facts that differ, which are counted apart."""
        self._nodes |= bit
        for text, _ in changed:
            self._others[text] = self._others.get(text, 0) | bit
        for text in self._leaves.keys() - leaves.keys():
            self._others[text] = self._others.get(text, 0) | bit

    def noted(self) -> Iterator[tuple[str, Reading, int]]:
        """Yield each fact with its value and the nodes that were noted since the last time and have the same fact."""
        if not self._nodes:
            return
        nodes, others = self._nodes, self._others
        self._nodes, self._others = 0, {}
        for text, leaf in self._leaves.items():
            if leaf.kind.cls in KEPT and (self.planes is None or leaf.plane in self.planes):
                held = nodes & ~others.get(text, 0)
                if held:
                    yield text, _counted_value(leaf), held


def _counted_value(leaf: Leaf) -> Reading:
    """Return the value by which nodes with a fact are counted."""
    spelt = type(leaf.reading) in _SPELT or leaf.kind.type is Type.SETTING
    return _value(leaf.reading, leaf.kind) if spelt else leaf.reading


class Census:
    """Counts nodes by location and by the values of facts of the classes in `KEPT`.

    A node may be counted again, for example after a second reading.
    """

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._names: list[str] = []
        self._roles: dict[str, int] = {}
        self._counted: dict[str, _Fact] = {}
        self._likes: list[_Like] = []
        self._places: dict[str, dict[str, int]] = {place: {} for place in PLACES}
        self._steady: set[str] = set()
        self._listings: dict[str, list[tuple[frozenset[str], int]]] = {}

    def take(
        self, node: str, role: str, tree: Tree, places: Mapping[str, str], planes: frozenset[Plane] | None = None
    ) -> None:
        """Count a node; if the node was counted before, its values on `planes` (default: all planes) are replaced.

        `places` may contain the rack, row, slot and PDU of the node; an empty or missing entry means unknown.
        """
        self._listings.clear()
        number = self._number.get(node)
        if number is None:
            number = self._number[node] = len(self._names)
            self._names.append(node)
        else:
            self._forget(number, planes, tree)
        for place, word in {**places, "role": role}.items():
            if word and place in self._places:
                there = self._places[place]
                there[word] = there.get(word, 0) | 1 << number
        self._roles[role] = self._roles.get(role, 0) | 1 << number
        facts, bit = self._counted, 1 << number
        for text, leaf in self._unlike(tree.leaves, planes, bit):
            if leaf.kind.cls in KEPT and (planes is None or leaf.plane in planes):
                fact = facts.get(text)
                if fact is None:
                    fact = self._met(text, leaf.kind, leaf.plane)
                value = _counted_value(leaf)
                held = fact.who.get(value)
                fact.who[value] = ~number if held is None else _mask(held) | bit

    def _unlike(
        self, leaves: Mapping[str, Leaf], planes: frozenset[Plane] | None, bit: int
    ) -> Iterable[tuple[str, Leaf]]:
        """Return the facts of a node that must be counted now: those that differ from the facts of a similar node."""
        for like in self._likes:
            changed = like.differing(leaves) if like.planes == planes else None
            if changed is not None:
                like.add(changed, leaves, bit)
                return changed
        if len(self._likes) < LIKES:
            self._likes.append(_Like(leaves, planes))
        return leaves.items()

    @property
    def _facts(self) -> Mapping[str, _Fact]:
        """The facts by path; nodes that were only noted as similar to another node are counted first."""
        for like in self._likes:
            for text, value, held in like.noted():
                who = self._counted[text].who
                who[value] = _mask(who.get(value, 0)) | held
        return self._counted

    def _met(self, text: str, kind: Kind, plane: Plane) -> _Fact:
        if kind.type is not Type.COLLECTION:
            self._steady.update(_pattern(collection) for collection, _ in paths.parse(text).items)
        return self._counted.setdefault(text, _Fact(kind, plane))

    def _forget(self, number: int, planes: frozenset[Plane] | None, tree: Tree) -> None:
        """Remove a node's values on the planes in `planes`; if `planes` is None, on all planes.

        If `planes` is not None, derived values are kept unless the node's new tree contains the same facts.
        """
        for held in (*self._places.values(), self._roles):
            for word in held:
                held[word] &= ~(1 << number)
        for text, fact in self._facts.items():
            kept = planes is not None and fact.plane is Plane.DERIVED and text not in tree.leaves
            if planes is None or (fact.plane in planes and not kept):
                fact.forget(number)

    @property
    def everyone(self) -> int:
        """All nodes that were counted, as a set."""
        return (1 << len(self._names)) - 1

    def roles(self) -> Mapping[str, int]:
        """Return the nodes of each role as sets, sorted by the name of the role."""
        return {role: held for role, held in sorted(self._roles.items()) if held}

    def role(self, role: str) -> int:
        """Return the nodes of a role, as a set."""
        return self._roles.get(role, 0)

    def bits(self, names: Iterable[str]) -> int:
        """Return the nodes with these names as a set; names of nodes that were never counted are left out."""
        found = 0
        for name in names:
            number = self._number.get(name)
            found |= 0 if number is None else 1 << number
        return found

    def names(self, bits: int) -> tuple[str, ...]:
        """Return the names of the nodes in a set, in natural order."""
        found = []
        while bits:
            low = bits & -bits
            found.append(self._names[low.bit_length() - 1])
            bits ^= low
        return tuple(sorted(found, key=natural))

    def facts(self) -> Iterator[str]:
        """Yield the paths of all reported facts, without collections that contain only counters or measurements."""
        for text, fact in self._facts.items():
            if fact.who and (fact.kind.type is not Type.COLLECTION or _pattern(text) in self._steady):
                yield text

    def kind(self, path: str) -> Kind | None:
        """Return the kind of a fact; None if no node reported it."""
        fact = self._facts.get(path)
        return None if fact is None else fact.kind

    def like(self) -> Mapping[str, tuple[str, ...]]:
        """Return the paths of all reported facts by their pattern, including the paths of collections."""
        found: dict[str, list[str]] = {}
        for text, fact in self._facts.items():
            if fact.who:
                found.setdefault(_pattern(text), []).append(text)
        return {pattern: tuple(some) for pattern, some in found.items()}

    def tree(self, node: str, texts: Iterable[str], silent: Mapping[Plane, Unknown]) -> Tree:
        """Return some facts of a node as a tree; the facts have no source and no time."""
        bit = self.bits((node,))
        leaves: dict[str, Leaf] = {}
        for text in texts:
            fact = self._facts.get(text)
            for value, held in fact.who.items() if fact is not None else ():
                if _mask(held) & bit:
                    assert fact is not None
                    leaves[text] = Leaf(value, fact.kind, fact.plane, "")
        return Tree(leaves, silent)

    def places(self, place: str) -> Mapping[str, int]:
        """Return the set of nodes at each place of a kind; `place` is one of `PLACES`."""
        return {word: held for word, held in self._places[place].items() if held}

    def sets(self, path: str) -> Iterator[tuple[Reading, int]]:
        """Yield each value of a fact with the set of nodes that have this value.

        Unknown values of a fact are grouped by their reason.
        """
        fact = self._facts.get(path)
        for value, held in fact.who.items() if fact is not None else ():
            yield value, _mask(held)

    def values(self, path: str) -> Mapping[Reading, tuple[str, ...]]:
        """Return each value of a fact with the nodes that have it."""
        return {value: self.names(held) for value, held in self.sets(path)}

    def nodes(self, path: str, value: Reading) -> tuple[str, ...]:
        """Return the names of the nodes on which the fact at `path` has the value `value`."""
        fact = self._facts.get(path)
        asked = value if fact is None else _value(value, fact.kind)
        return () if fact is None or asked not in fact.who else self.names(_mask(fact.who[asked]))

    def known(self, path: str) -> int:
        """Return the nodes on which a fact is known (absent counts as known), as a set."""
        found = 0
        for value, held in self.sets(path):
            found |= 0 if isinstance(value, Unknown) else held
        return found

    def without(self, path: str) -> int:
        """Return the set of nodes without the item in the path: for `gpu/7.name`, the nodes with no item 7 in `gpu`."""
        found = 0
        for collection, key in paths.parse(path).items:
            for listed, held in self._listed(collection):
                if key not in listed:
                    found |= held
        return found & ~self.known(path)

    def _listed(self, collection: str) -> list[tuple[frozenset[str], int]]:
        """Return each list of items with the nodes that report it; cached until another node is counted."""
        known = self._listings.get(collection)
        if known is None:
            known = self._listings[collection] = [
                (frozenset(value) if isinstance(value, tuple) else frozenset(), held)
                for value, held in self.sets(collection)
                if isinstance(value, tuple | Absent)
            ]
        return known

    def majority(self, path: str, role: str) -> Majority | None:
        """Return the value on more than half of a role's nodes; None if the fact is known on fewer than `FEWEST` nodes.

        The total includes nodes on which the fact is unknown, so that missing data can prevent a majority but never
        create one.
        """
        whole = self.role(role)
        of = whole.bit_count()
        counts = {v: (held & whole).bit_count() for v, held in self.sets(path) if not isinstance(v, Unknown)}
        best, known = most(counts, of), sum(counts.values())
        return Majority(best, counts[best], known, of) if best is not None and known >= FEWEST else None

    def deviants(self, path: str, role: str) -> Mapping[Reading, tuple[str, ...]]:
        """Return the nodes of a role whose value differs from the majority value; empty if there is no majority.

        A node on which the fact is unknown is left out.
        """
        held = self.majority(path, role)
        whole = self.role(role)
        if held is None:
            return {}
        others = ((v, bits & whole) for v, bits in self.sets(path) if v != held.value and not isinstance(v, Unknown))
        return {value: self.names(bits) for value, bits in others if bits}

    def spell(self, path: str, value: Reading) -> str:
        """Format a value of a fact as text."""
        kind = self.kind(path)
        if isinstance(value, Unknown):
            return f"unknown ({value})"
        return "absent" if isinstance(value, Absent) or kind is None else operator.spell(value, kind)


def _mask(held: int) -> int:
    return held if held >= 0 else 1 << ~held


def _value(reading: Reading, kind: Kind) -> Reading:
    """Return a value in a comparable form: unknown values without details, settings normalized."""
    if isinstance(reading, Unknown):
        return _UNKNOWN[reading.reason]
    if isinstance(reading, Absent):
        return ABSENT
    return _setting(reading) if kind.type is Type.SETTING and isinstance(reading, str) else reading


@lru_cache(maxsize=65536)
def _setting(text: str) -> str:
    key = operator.setting_key(text)
    return str(key) if isinstance(key, int) else " ".join(key)


@lru_cache(maxsize=65536)
def _pattern(path: str) -> str:
    return str(paths.parse(path).pattern)
