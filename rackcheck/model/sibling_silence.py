"""Missing values among siblings: a value that similar items return, but this item does not, is unknown. Pure.

Items are siblings only in collections that the catalogue marks as `alike`, and only if they are not known to differ in
a grouping fact. If a grouping fact is unknown or absent for an item, the item is not separated from others by this
fact. An item whose position is known to be empty has no siblings.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.catalogue import Catalogue, Entry, listing
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown, clean
from rackcheck.model.path import EVERY, Path, Segment, parse
from rackcheck.model.tree import Tree

FACT = "fleet.silent"
"""A fact of the fleet: the nodes that lack values which similar nodes return."""

ENTRY = Entry(
    FACT,
    listing("Nodes on which all parts of one kind lack facts that most nodes of the role return, with these facts."),
    Plane.DERIVED,
    "silence",
)
"""The catalogue entry of `FACT`, which is derived from the facts that the rules of a profile read."""

EMPTY = "Absent"
"""The value of the `vacant` fact of an item whose position is empty."""

NAMED = 3
"""Maximum number of siblings listed in the reason for a doubt."""

DETAIL = 160
"""Maximum number of characters of each name, and of the detail of the absent fact, in the reason for a doubt."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A fact that groups items, as a path pattern that starts at the node."""

    fact: Path
    plane: Plane


@dataclass(frozen=True, slots=True)
class Siblings:
    """A collection whose items have siblings: items with equal values of the facts `by`.

    `vacant` is the fact that shows whether the position of an item is empty.
    """

    collection: Path
    plane: Plane
    by: tuple[Ground, ...] = ()
    vacant: Ground | None = None

    def __hash__(self) -> int:
        return hash(self.collection)

    @property
    def grounds(self) -> tuple[Ground, ...]:
        """Every fact that decides which items are siblings."""
        return self.by if self.vacant is None else (*self.by, self.vacant)

    @property
    def planes(self) -> frozenset[Plane]:
        """The planes of the collection and of the facts that decide which items are siblings."""
        return frozenset({self.plane, *(ground.plane for ground in self.grounds)})

    def facts(self) -> frozenset[Path]:
        """The collection, and the facts that decide which items are siblings."""
        return frozenset({self.collection, *(ground.fact for ground in self.grounds)})


def siblings_of(catalogue: Catalogue, path: Path) -> Siblings | None:
    """Return the innermost collection on a path whose items have siblings; None if there is none."""
    for depth in range(len(path.segments), 0, -1):
        if path.segments[depth - 1].key is None:
            continue
        bare = Path((*path.segments[: depth - 1], Segment(path.segments[depth - 1].word))).pattern
        entry = catalogue.entries.get(str(bare))
        if entry is None or entry.kind.alike is None:
            continue
        by = tuple(ground for text in entry.kind.alike if (ground := _ground(catalogue, text)) is not None)
        return Siblings(bare, entry.plane, by, _ground(catalogue, entry.kind.vacant) if entry.kind.vacant else None)
    return None


def _ground(catalogue: Catalogue, text: str) -> Ground | None:
    """Return a fact that groups items; None if no probe provides it, since it would then separate no items."""
    path = parse(text)
    entry = catalogue.find(path)
    return None if entry is None else Ground(path, entry.plane)


def sibling_doubt(path: Path, plane: Plane, absent: Absent, siblings: Siblings, tree: Tree) -> Unknown | None:
    """Return why an absent fact may be a missing value: a sibling has or may have it, or siblings may be unknown."""
    depth = len(siblings.collection.segments)
    family = _family(siblings, tree)
    has = family.returned(Path(path.segments[depth:]), plane, tree)
    return family.doubt(absent.detail or "absent", str(Path(path.segments[:depth])), has)


def empty_doubt(look: Path, chosen: Iterable[Path], plane: Plane, siblings: Siblings, tree: Tree) -> Unknown | None:
    """Return why a nested collection without items may have items that are not listed; None if there is no doubt.

    `look` is the selected collection, `chosen` contains its items. If the collection is empty in several outer items,
    the reason names the first of these outer items.
    """
    depth = len(siblings.collection.segments)
    filled = {item.segments[:depth] for item in chosen}
    family, rest = _family(siblings, tree), Path(look.segments[depth:])
    empty = [item for item in family.items.values() if item.segments not in filled and _within(item, look)]
    if not empty:
        return None
    has: dict[str, bool | None] = {}
    for text, item in family.items.items():
        selection = tree.select(item + rest, plane)
        if selection.items or selection.unknown is not None:
            has[text] = True if selection.items else None
    found = [(item, doubt) for item in empty if (doubt := family.doubt("empty", str(item), has)) is not None]
    if not found:
        return None
    (first, doubt), more = found[0], len(found) - 1
    name = clean(str(first + rest), DETAIL)
    return Unknown(doubt.reason, f"{name}{f' and {more} more' if more else ''}: {doubt.detail}")


def _within(item: Path, look: Path) -> bool:
    """Whether the keys of an outer item fit the selected collection `look`, in which a star fits every key."""
    return all(b.key in {EVERY, a.key} for a, b in zip(item.segments, look.segments, strict=False))


class _Family:
    """The items of one collection on a node, without empty positions, and the facts that each item returns."""

    def __init__(self, siblings: Siblings, tree: Tree) -> None:
        selection = tree.select(siblings.collection, siblings.plane)
        kept = (item for item in selection.items if not _vacant(item, siblings, tree))
        self.items = {str(item): item for item in kept}
        self.unseen = selection.unknown is not None
        self._readings = {text: [_at(item, each, tree) for each in siblings.by] for text, item in self.items.items()}
        self._others: dict[str, list[str]] = {}
        self._returned: dict[tuple[str, Plane], Mapping[str, bool | None]] = {}

    def returned(self, fact: Path, plane: Plane, tree: Tree) -> Mapping[str, bool | None]:
        """Return the items that have a fact (True) or may have it (None), by path; other items are left out."""
        key = str(fact), plane
        found = self._returned.get(key)
        if found is None:
            values = {text: tree.reading(item + fact, plane) for text, item in self.items.items()}
            found = {
                t: None if isinstance(r, Unknown) else True for t, r in values.items() if not isinstance(r, Absent)
            }
            self._returned[key] = found
        return found

    def doubt(self, why: str, item: str, has: Mapping[str, bool | None]) -> Unknown | None:
        """Return why an item may have a value that it does not return, and which siblings return it; else None."""
        if item not in self.items or not (has or self.unseen):
            return None
        others = self._others.get(item)
        if others is None:
            mine = self._readings[item]
            others = [text for text, rows in self._readings.items() if text != item and not _apart(mine, rows)]
            self._others[item] = others
        return _silence(clean(why, DETAIL), others, has, unseen=self.unseen)


def _family(siblings: Siblings, tree: Tree) -> _Family:
    """Return what is known about the items of a collection; computed once for each tree."""
    found = tree.kept.get(siblings)
    if not isinstance(found, _Family):
        found = tree.kept[siblings] = _Family(siblings, tree)
    return found


def occupied(item: Path, siblings: Siblings, tree: Tree) -> bool:
    """Whether an item's position is occupied, or not known to be empty."""
    return not _vacant(item, siblings, tree)


def sort_of(item: Path, siblings: Siblings, tree: Tree) -> tuple[str, ...] | None:
    """Return the grouping facts of an item as texts, empty if absent; None if one of them is unknown."""
    rows = [_at(item, ground, tree) for ground in siblings.by]
    if any(isinstance(reading, Unknown) for reading in rows):
        return None
    return tuple("" if isinstance(reading, Absent) else str(reading) for reading in rows)


def _vacant(item: Path, siblings: Siblings, tree: Tree) -> bool:
    return siblings.vacant is not None and _at(item, siblings.vacant, tree) == EMPTY


def _at(item: Path, ground: Ground, tree: Tree) -> Reading:
    keys = [segment.key for segment in item.segments if segment.key is not None]
    return tree.reading(ground.fact.fill(keys), ground.plane)


def _apart(one: Sequence[Reading], two: Sequence[Reading]) -> bool:
    """Whether two items are known to differ in their grouping facts."""
    rows = (Absent, Unknown)
    return any(not isinstance(a, rows) and not isinstance(b, rows) and a != b for a, b in zip(one, two, strict=True))


def _silence(why: str, others: Sequence[str], has: Mapping[str, bool | None], *, unseen: bool) -> Unknown | None:
    for answer, words in ((True, "return it"), (None, "may return it (unknown)")):
        found = [other for other in others if other in has and has[other] is answer]
        if found:
            more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
            named = ", ".join(clean(other, DETAIL) for other in found[:NAMED])
            count = f"{len(found)} of {len(others)} siblings {words}"
            return Unknown(Reason.NOT_COLLECTED, f"{why}, and {count}: {named}{more}")
    return Unknown(Reason.NOT_COLLECTED, f"{why}, and the list of its siblings may be incomplete") if unseen else None
