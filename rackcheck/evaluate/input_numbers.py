"""Inputs of rules on a node, as small numbers: nodes with the same values for a rule have the same numbers. Pure.

A part is all values of one pattern of facts on a node, or the item names of one collection, or the reason why a plane
is silent. Each distinct content of a part has a number. The content of a part is everything that a verdict may show:
readings, their types and their sources, but no times.

A node's readings are compared with the readings of the first node that had the same items, and numbers are looked up
only for the parts that differ: this costs less than hashing all parts.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, repeat
from math import copysign
from operator import is_not

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Plane
from rackcheck.model.path import EVERY, Path
from rackcheck.model.profile import Rule
from rackcheck.model.tree import Leaf, Tree

OWN = 0
"""The number of a part that is treated as specific to each node: two nodes with this number may differ."""

PATIENCE = 32
"""How many more new contents than repeated contents a part may have.

A part that has more is treated as specific to each node.
"""

ROOM = 4096
"""Maximum number of readings kept for all contents of one part."""

FEWEST = 16
"""Number of contents of one part that may be kept even if they have more than ROOM readings together."""

LAYOUTS = 64
"""Maximum number of different sets of items for which the readings of the first node with these items are kept."""

NAMES = 16384
"""Maximum number of collections whose patterns are cached; if there are more, the cache is emptied."""

_NOTHING = Leaf("", Kind(Type.TEXT, ""), Plane.DERIVED, "\0")
"""Placeholder for a missing leaf; no real leaf has the same source."""


class ContentNumbers:
    """Assigns a number to each distinct content of one part, and stops if contents hardly repeat."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}
        self._last = OWN
        self._spare = PATIENCE

    @property
    def given_up(self) -> bool:
        """Whether the part is treated as specific to each node, because its contents hardly repeat."""
        return self._spare < 0

    def number(self, content: Hashable, size: int) -> int:
        """Return the number of a content with `size` values; OWN if the part is treated as specific to each node."""
        if self._spare < 0:
            return OWN
        found = self._known.get(content)
        if found is not None:
            self._spare = min(self._spare + 1, PATIENCE)
            return found
        self._spare -= 1
        if self._spare < 0 or len(self._known) >= max(FEWEST, ROOM // max(size, 1)):
            self._known.clear()
        if self._spare < 0:
            return OWN
        self._known[content] = self.fresh()
        return self._last

    def fresh(self) -> int:
        """Return a number that no content of this part has."""
        self._last += 1
        return self._last


@dataclass(frozen=True, slots=True)
class RuleReads:
    """What a rule reads: facts, collections whose items it needs, and planes whose failure makes it unknown."""

    facts: frozenset[Path]
    collections: frozenset[Path]
    planes: frozenset[Plane]


def read_by(rule: Rule) -> RuleReads:
    """Return everything that decides a rule's verdict on a node or appears in the verdict, as path patterns."""
    facts, look = rule.facts() | rule.kin(), rule.look
    if look is not None and any(not clause.fact.segments for clause in rule.parts()):
        facts |= {look.collection.item(EVERY)}
    ways = frozenset(way for fact in facts for way in fact.collections)
    looked = frozenset[Path]() if look is None else frozenset({look.collection})
    beside = [None if look is None else look.siblings]
    beside += [each for clause in rule.parts() for each in (clause.siblings, clause.other_siblings)]
    planes = rule.planes.union(*(each.planes for each in beside if each is not None))
    return RuleReads(facts | ways, ways | looked, planes)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The paths of the facts of all nodes with the same items, and the facts and numbers of the first such node."""

    texts: tuple[str, ...]
    parts: tuple[int, ...]
    slices: Mapping[int, tuple[int, int]]
    first: tuple[Leaf, ...]
    numbers: tuple[int, ...]

    def differing(self, leaves: Sequence[Leaf]) -> set[int]:
        """Return the parts whose facts differ from those of the first node with the same items.

        Equal facts of two nodes are often one object, so most of them need not be compared.
        """
        others = compress(range(len(leaves)), map(is_not, leaves, self.first))
        return {self.parts[at] for at in others if _content(leaves[at]) != _content(self.first[at])}


def _leaves_at(texts: Iterable[str], tree: Tree) -> tuple[Leaf, ...]:
    return tuple(map(tree.leaves.get, texts, repeat(_NOTHING)))


def _content(leaf: Leaf) -> Hashable:
    """Return what a verdict may show of a fact; 0.0 equals -0.0, but is formatted differently."""
    reading = leaf.reading
    sign = copysign(1, reading) if isinstance(reading, float) and reading == 0 else 0
    return reading, type(reading), leaf.source, sign


@dataclass(frozen=True, slots=True)
class Numbered:
    """The numbers of all parts of one node, in the order of the parts."""

    numbers: tuple[int, ...]
    layout: _Layout

    def texts(self, places: Iterable[int]) -> tuple[str, ...] | None:
        """Return the paths of all facts that these parts may contain.

        Return None if a part contains facts of items whose names are treated as specific to each node.
        """
        facts = [place for place in places if place < len(self.layout.numbers)]
        if not all(place in self.layout.slices for place in facts):
            return None
        slices = (self.layout.slices[place] for place in facts)
        return tuple(text for start, end in slices for text in self.layout.texts[start:end])


class Reads:
    """Assigns numbers to the parts of each node.

    The order of the parts is: facts by pattern, items of collections, planes.
    """

    def __init__(self, reads: Iterable[RuleReads]) -> None:
        reads = tuple(reads)
        named: dict[str, list[str]] = {}
        for fact in sorted({fact for read in reads for fact in read.facts}, key=str):
            named.setdefault(str(fact.pattern), []).append(str(fact))
        self._facts = tuple(paths.parse(text) for text in named)
        self._named = tuple(map(tuple, named.values()))
        self._collections = tuple(sorted({str(c.pattern) for read in reads for c in read.collections}))
        self._planes = tuple(sorted({plane for read in reads for plane in read.planes}))
        order = [*named, *map(_items, self._collections), *self._planes]
        self._place = {name: place for place, name in enumerate(order)}
        self._parts = [ContentNumbers() for _ in order]
        self._layouts: dict[tuple[int, ...], _Layout] = {}
        self._patterns: dict[str, str] = {}

    def places(self, read: RuleReads) -> tuple[int, ...]:
        """Return the indexes of all parts that a rule reads, in ascending order."""
        facts = (str(fact.pattern) for fact in read.facts)
        items = (_items(str(collection.pattern)) for collection in read.collections)
        return tuple(sorted({self._place[name] for name in (*facts, *items, *read.planes)}))

    def of(self, tree: Tree) -> Numbered:
        """Return the numbers of all parts of a node, in the order of the parts."""
        listed = self._listed(tree)
        items = tuple(
            self._part(_items(collection)).number(tuple(names), sum(map(len, names)))
            for collection, names in listed.items()
        )
        planes = tuple(self._part(plane).number(tree.silent.get(plane), 1) for plane in self._planes)
        layout = self._layouts.get(items)
        if layout is None:
            layout = self._laid(tree, listed)
            if len(self._layouts) >= LAYOUTS:
                self._layouts.clear()
            self._layouts[items] = layout
            numbers: Sequence[int] = layout.numbers
        else:
            numbers = self._compared(layout, tree)
        return Numbered((*numbers, *items, *planes), layout)

    def _compared(self, layout: _Layout, tree: Tree) -> Sequence[int]:
        leaves = _leaves_at(layout.texts, tree)
        numbers = list(layout.numbers)
        for place in layout.differing(leaves):
            start, end = layout.slices[place]
            content = layout.texts[start:end], tuple(map(_content, leaves[start:end]))
            numbers[place] = self._parts[place].number(content, end - start)
        return numbers

    def _part(self, name: str) -> ContentNumbers:
        return self._parts[self._place[name]]

    def _listed(self, tree: Tree) -> Mapping[str, list[tuple[str, ...]]]:
        """Return a node's collections by path pattern, each as a tuple of its path and the keys of its items."""
        found: dict[str, list[tuple[str, ...]]] = {collection: [] for collection in self._collections}
        patterns = self._patterns
        if len(patterns) > NAMES:
            patterns.clear()
        for text, keys in tree.items.items():
            pattern = patterns.get(text)
            if pattern is None:
                pattern = patterns[text] = str(paths.parse(text).pattern)
            names = found.get(pattern)
            if names is not None:
                names.append((text, *keys))
        return found

    def _laid(self, tree: Tree, listed: Mapping[str, list[tuple[str, ...]]]) -> _Layout:
        """Make a layout from a node; other nodes with the same items are compared with this layout."""
        texts: list[str] = []
        parts: list[int] = []
        slices: dict[int, tuple[int, int]] = {}
        keys = {text: names for found in listed.values() for text, *names in found}
        for place, (fact, named) in enumerate(zip(self._facts, self._named, strict=True)):
            # Nodes with different items of such a collection share this layout: it contains no paths of those items.
            if any(self._part(_items(str(way))).given_up for way in fact.collections):
                continue
            mine = tuple(dict.fromkeys((*named, str(fact), *_filled(fact, keys))))
            slices[place] = len(texts), len(texts) + len(mine)
            texts += mine
            parts += repeat(place, len(mine))
        leaves = _leaves_at(texts, tree)
        numbers = [OWN] * len(self._facts)
        for place, (start, end) in slices.items():
            part = self._parts[place]
            content = tuple(texts[start:end]), tuple(map(_content, leaves[start:end]))
            numbers[place] = part.number(content, end - start) or part.fresh()
        return _Layout(tuple(texts), tuple(parts), slices, leaves, tuple(numbers))


def _items(collection: str) -> str:
    """Return the name of the part with a collection's items, such as `gpu/`; `gpu` is the part with the fact `gpu`."""
    return f"{collection}/"


def _filled(fact: Path, keys: Mapping[str, Sequence[str]]) -> Iterable[str]:
    """Return every path that a pattern matches; `keys` maps each collection to the keys of its items."""
    found, word = [""], ""
    for segment in fact.segments:
        if segment.key == EVERY:
            bases = [f"{above}{word}{segment.word}" for above in found]
            found = [f"{base}/{paths.spell_key(key)}" for base in bases for key in keys.get(base, ())]
            word = "."
        else:
            word = f"{word}{segment}."
    return [above + word.rstrip(".") for above in found]
