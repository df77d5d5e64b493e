"""The typed facts of one node: leaves by path, collections by name."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import compress
from math import inf
from operator import is_not

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.path import EVERY, Path
from rackcheck.model.text import natural


@dataclass(frozen=True, slots=True)
class Leaf:
    """One fact as read: its reading, its kind, and where it was read; equal facts of many nodes may be one object."""

    reading: Reading
    kind: Kind
    plane: Plane
    source: str


@dataclass(frozen=True, slots=True)
class ItemSelection:
    """The items of a collection; if `unknown` is set, there may be more items."""

    items: tuple[Path, ...]
    unknown: Unknown | None = None


@dataclass(frozen=True, slots=True)
class Later:
    """A second reading of some facts; `apart` is, by plane, the minimum and maximum seconds since the first reading."""

    tree: "Tree"
    apart: Mapping[Plane, tuple[float, float]]

    def seconds(self, planes: Iterable[Plane]) -> tuple[float, float]:
        """Return the minimum and maximum seconds since the first reading, over all these planes."""
        spans = [self.apart.get(plane, (0.0, inf)) for plane in planes]
        return min(least for least, _ in spans), max(most for _, most in spans)


def list_items(leaves: Mapping[str, Leaf], items: dict[str, dict[str, None]]) -> None:
    """Add the items in the paths of these leaves, and those that their collections list, by collection."""
    listed = {""}
    for text, leaf in leaves.items():
        if leaf.kind.type is Type.COLLECTION and isinstance(leaf.reading, tuple):
            items.setdefault(text, {}).update(dict.fromkeys(leaf.reading))
        item = paths.last_item(text)
        if item not in listed:  # an item has many leaves
            listed.add(item)
            for collection, key in paths.parse(item).items:
                items.setdefault(collection, {})[key] = None


def not_shared(leaves: Mapping[str, Leaf], base: Mapping[str, Leaf]) -> Iterator[str]:
    """Return the paths of leaves that are not the same object in `base`, in order.

    Most leaves of nodes of a rack are, so the loop over all of them is left to the standard library. Most of the nodes
    have the same paths in the same order, so that no path need be looked up.
    """
    if list(leaves) == list(base):
        return compress(leaves, map(is_not, base.values(), leaves.values()))
    return compress(leaves, map(is_not, map(base.get, leaves), leaves.values()))


@dataclass(frozen=True)
class Collected:
    """The facts that probes read from an answer, and the keys of all items in their paths, by collection."""

    leaves: dict[str, Leaf] = field(default_factory=dict)
    items: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, more: "Collected") -> None:
        """Add the facts and items of another probe."""
        self.leaves.update(more.leaves)
        for collection, keys in more.items.items():
            self.items.setdefault(collection, {}).update(keys)


@dataclass(frozen=True)
class Tree:
    """All facts of one node; `silent` maps silent planes to the reason, `later` holds the second reading.

    `times` has the time at which each plane was read; the time of derived facts is that of their newest input. `failed`
    are the probes and joins whose code failed, so that their facts are unknown or missing.
    """

    leaves: Mapping[str, Leaf]
    silent: Mapping[Plane, Unknown] = field(default_factory=dict)
    later: Later | None = None
    times: Mapping[Plane, str] = field(default_factory=dict)
    failed: tuple[str, ...] = ()
    kept: dict[Hashable, object] = field(init=False, repr=False, compare=False, default_factory=dict)
    """A cache for results computed from several facts of the tree."""
    _items: dict[str, dict[str, None]] | None = field(init=False, repr=False, compare=False, default=None)

    @classmethod
    def listed(
        cls,
        leaves: Mapping[str, Leaf],
        silent: Mapping[Plane, Unknown],
        items: Mapping[str, dict[str, None]],
        times: Mapping[Plane, str],
        failed: tuple[str, ...] = (),
    ) -> "Tree":
        """Return a tree with these leaves, which are not searched for items.

        `items` has the keys by collection; trees may share them, so they must not be changed later.
        """
        whole = cls(leaves, silent, times=times, failed=failed)
        object.__setattr__(whole, "_items", {**items})
        return whole

    @property
    def items(self) -> Mapping[str, dict[str, None]]:
        """The keys of all items, by the path of their collection; found when they are first used."""
        found = self._items
        if found is None:
            found = {}
            list_items(self.leaves, found)
            object.__setattr__(self, "_items", found)
        return found

    def time(self, leaf: Leaf) -> str:
        """Return the time at which a leaf of this tree was read; an empty text if it is not known."""
        return self.times.get(leaf.plane, "")

    def with_more(self, more: Mapping[str, Leaf]) -> "Tree":
        """Return a copy of the tree with more leaves, or others at known paths; only these are searched for items."""
        whole = Tree({**self.leaves, **more}, self.silent, self.later, self.times, self.failed)
        items = {collection: dict(keys) for collection, keys in self.items.items()}
        list_items(more, items)
        object.__setattr__(whole, "_items", items)
        return whole

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.leaves, key=natural))

    def narrowed(self, patterns: frozenset[str]) -> "Tree":
        """Return a copy of the tree with only the facts that match these patterns; the copy has no second reading."""
        kept = {text: leaf for text, leaf in self.leaves.items() if str(paths.parse(text).pattern) in patterns}
        return Tree(kept, self.silent, times=self.times)

    def keys(self, collection: str) -> Iterable[str]:
        """The keys of a collection's items, also of unlisted items that have a leaf; the order is undefined."""
        return self.items.get(collection, {})

    def leaf(self, path: Path) -> Leaf | None:
        """The leaf at a path; None if no probe returned a leaf there."""
        return self.leaves.get(str(path))

    def numbered(self, text: str) -> str:
        """Return the path with its first item's index as key: `gpu/5.link` for `gpu/module-3.link` with the index 5.

        Return an empty text if the first item of the path has no index.
        """
        first, *rest = paths.parse(text).segments
        leaf = self.leaves.get(f"{first}.index")
        if leaf is None or not isinstance(leaf.reading, int):
            return ""
        return str(Path((paths.Segment(first.word, str(leaf.reading)), *rest)))

    def reading(self, path: Path, plane: Plane) -> Reading:
        """The reading at a path; absent if the item's collection was listed completely and does not contain it."""
        leaf = self.leaf(path)
        if leaf is not None:
            return leaf.reading
        if plane in self.silent:
            return self.silent[plane]
        for depth, segment in enumerate(path.segments, start=1):
            if segment.key is None:
                continue
            bare = Path((*path.segments[: depth - 1], paths.Segment(segment.word)))
            listing = self.leaf(bare)
            if listing is None or segment.key in self.items.get(str(bare), {}):
                continue
            if isinstance(listing.reading, Unknown):
                return listing.reading
            return Absent(f"no {segment.key} among {bare}")
        whole = self.leaf(path.pattern)  # the reason, if a probe could not collect this fact for any item
        return whole.reading if whole is not None else Unknown(Reason.NOT_COLLECTED, "no collected source reports it")

    def select(self, collection: Path, plane: Plane) -> ItemSelection:
        """Return the items of a collection; a star in the path stands for every item of an outer collection."""
        key = "select", collection.text, plane
        found = self.kept.get(key)
        if not isinstance(found, ItemSelection):
            found = self.kept[key] = self._selected(collection, plane)
        return found

    def _selected(self, collection: Path, plane: Plane) -> ItemSelection:
        before = next((i for i, s in enumerate(collection.segments) if s.key == EVERY), None)
        if before is None:
            return self._items_of(collection, plane)
        outer = Path((*collection.segments[:before], paths.Segment(collection.segments[before].word)))
        rest = collection.segments[before + 1 :]
        chosen = self._items_of(outer, plane)
        found: list[Path] = []
        unknown = chosen.unknown
        for item in chosen.items:
            inner = self.select(Path(item.segments + rest), plane)
            found += inner.items
            unknown = unknown or inner.unknown
        return ItemSelection(tuple(found), unknown)

    def _items_of(self, collection: Path, plane: Plane) -> ItemSelection:
        reading = self.reading(collection, plane)
        keys = sorted(self.items.get(str(collection), {}), key=natural)
        return ItemSelection(tuple(collection.item(k) for k in keys), reading if isinstance(reading, Unknown) else None)
