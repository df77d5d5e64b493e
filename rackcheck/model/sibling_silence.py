"""Silence of one among siblings: what an item does not return, and items like it do, is not known of it. Pure.

Items are siblings only in collections that the catalogue marks as `alike`, where the facts that group them are equal. A
grouping fact that is unknown or absent sets no item apart. An item whose place is known to be empty is no sibling.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.catalogue import Catalogue, Entry, listing
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown, clean
from rackcheck.model.path import EVERY, Path, Segment, parse
from rackcheck.model.tree import Tree

FACT = "fleet.silent"
"""The fact of a fleet whose nodes are held against one another."""

ENTRY = Entry(
    FACT,
    listing("Nodes on which all parts of a sort lack facts that most nodes of the role return, with these facts."),
    Plane.DERIVED,
    "silence",
)
"""What that adds to the catalogue; it follows from whatever facts the rules of a profile read."""

EMPTY = "Absent"
"""The word of a state for a place that holds nothing."""

NAMED = 3
"""Siblings, and items, that a doubt names."""

DETAIL = 160
"""Characters of why a fact is absent, and of each name, within a doubt."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A fact that sets items apart, as a pattern from the node."""

    fact: Path
    plane: Plane


@dataclass(frozen=True, slots=True)
class Siblings:
    """A collection, and what sets its items apart; `vacant` is the state of an item's place."""

    collection: Path
    plane: Plane
    by: tuple[Ground, ...] = ()
    vacant: Ground | None = None

    def __hash__(self) -> int:
        return hash(self.collection)

    @property
    def grounds(self) -> tuple[Ground, ...]:
        """Every fact that decides who is whose sibling."""
        return self.by if self.vacant is None else (*self.by, self.vacant)

    @property
    def planes(self) -> frozenset[Plane]:
        """Where these facts and the items are read."""
        return frozenset({self.plane, *(ground.plane for ground in self.grounds)})

    def facts(self) -> frozenset[Path]:
        """What is read to know the siblings of an item."""
        return frozenset({self.collection, *(ground.fact for ground in self.grounds)})


def siblings_of(catalogue: Catalogue, path: Path) -> Siblings | None:
    """Find the innermost collection of siblings in one of whose items a fact or a collection lies."""
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
    """Read a grouping fact; one that no probe gives would be unknown of every item, and sets none apart."""
    path = parse(text)
    entry = catalogue.find(path)
    return None if entry is None else Ground(path, entry.plane)


def sibling_doubt(path: Path, plane: Plane, absent: Absent, siblings: Siblings, tree: Tree) -> Unknown | None:
    """Give why an absent fact is not known to be: a sibling has it, may have it, or may be there unseen."""
    depth = len(siblings.collection.segments)
    family = _family(siblings, tree)
    has = family.returned(Path(path.segments[depth:]), plane, tree)
    return family.doubt(absent.detail or "absent", str(Path(path.segments[:depth])), has)


def empty_doubt(look: Path, chosen: Iterable[Path], plane: Plane, siblings: Siblings, tree: Tree) -> Unknown | None:
    """Give why an item's empty collection is not known to be empty, of the first item where it is not.

    `look` is the collection that is looked at, `chosen` are the items that it was found to hold.
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
    """Whether a look is at this item too; of one that is not there it is not asked."""
    return all(b.key in {EVERY, a.key} for a, b in zip(item.segments, look.segments, strict=False))


class _Family:
    """The items of one collection on a node that are no empty places, and which of them return what."""

    def __init__(self, siblings: Siblings, tree: Tree) -> None:
        selection = tree.select(siblings.collection, siblings.plane)
        kept = (item for item in selection.items if not _vacant(item, siblings, tree))
        self.items = {str(item): item for item in kept}
        self.unseen = selection.unknown is not None
        self._told = {text: [_at(item, each, tree) for each in siblings.by] for text, item in self.items.items()}
        self._others: dict[str, list[str]] = {}
        self._returned: dict[tuple[str, Plane], Mapping[str, bool | None]] = {}

    def returned(self, fact: Path, plane: Plane, tree: Tree) -> Mapping[str, bool | None]:
        """Give the items of which a fact is there, or, as None, may be."""
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
        """Say which siblings of an item have what it has not; none of an item that is not there."""
        if item not in self.items or not (has or self.unseen):
            return None
        others = self._others.get(item)
        if others is None:
            mine = self._told[item]
            others = [text for text, rows in self._told.items() if text != item and not _apart(mine, rows)]
            self._others[item] = others
        return _silence(clean(why, DETAIL), others, has, unseen=self.unseen)


def _family(siblings: Siblings, tree: Tree) -> _Family:
    """Give what is known of the items of a collection; found once for each tree."""
    found = tree.kept.get(siblings)
    if not isinstance(found, _Family):
        found = tree.kept[siblings] = _Family(siblings, tree)
    return found


def occupied(item: Path, siblings: Siblings, tree: Tree) -> bool:
    """Whether an item's place is not known to be empty."""
    return not _vacant(item, siblings, tree)


def sort_of(item: Path, siblings: Siblings, tree: Tree) -> tuple[str, ...] | None:
    """Give what groups an item, each fact as a text, empty where it is absent; None where one of them is unknown."""
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
    """Whether two items are known to differ in what groups them."""
    rows = (Absent, Unknown)
    return any(not isinstance(a, rows) and not isinstance(b, rows) and a != b for a, b in zip(one, two, strict=True))


def _silence(why: str, others: Sequence[str], has: Mapping[str, bool | None], *, unseen: bool) -> Unknown | None:
    for answer, words in ((True, "return it"), (None, "may have it, which is not known")):
        found = [other for other in others if other in has and has[other] is answer]
        if found:
            more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
            named = ", ".join(clean(other, DETAIL) for other in found[:NAMED])
            count = f"{len(found)} of {len(others)} siblings {words}"
            return Unknown(Reason.NOT_COLLECTED, f"{why}, and {count}: {named}{more}")
    return Unknown(Reason.NOT_COLLECTED, f"{why}, and not all of its siblings are known") if unseen else None
