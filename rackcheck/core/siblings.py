"""Silence of one among siblings: what an item does not return, and items like it do, is not known of it. Pure.

Items are siblings only in collections that the catalogue marks as `alike`, where the facts that group them are equal. A
grouping fact that is unknown or absent sets no item apart. An item whose place is known to be empty is no sibling.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rackcheck.core.catalogue import Catalogue
from rackcheck.core.fact import Absent, Plane, Reading, Reason, Unknown, clean
from rackcheck.core.path import EVERY, Path, Segment, parse
from rackcheck.core.tree import Tree

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
    rest = path.segments[depth:]
    others, unseen = _beside(Path(path.segments[:depth]), siblings, tree)
    readings = [tree.reading(Path(other.segments + rest), plane) for other in others]
    return _doubt(absent.detail or "absent", others, list(map(_returned, readings)), unseen)


def empty_doubt(collection: Path, plane: Plane, siblings: Siblings, tree: Tree) -> Unknown | None:
    """Give why an item's empty collection is not known to be empty, of the first item where it is not."""
    depth = len(siblings.collection.segments)
    held = Path((*collection.segments[: depth - 1], Segment(collection.segments[depth - 1].word)))
    key, rest = collection.segments[depth - 1].key, collection.segments[depth:]
    chosen = tree.select(held, siblings.plane).items
    items = chosen if key == EVERY else tuple(item for item in chosen if item.segments[-1].key == key)
    found: list[tuple[Path, Unknown]] = []

    def holds(item: Path) -> bool | None:
        selection = tree.select(Path(item.segments + rest), plane)
        return True if selection.items else None if selection.unknown is not None else False

    for item in items:
        if holds(item) is not False:
            continue
        others, unseen = _beside(item, siblings, tree)
        doubt = _doubt("empty", others, list(map(holds, others)), unseen)
        if doubt is not None:
            found.append((Path(item.segments + rest), doubt))
    if not found:
        return None
    (first, doubt), more = found[0], len(found) - 1
    return Unknown(doubt.reason, f"{clean(str(first), DETAIL)}{f' and {more} more' if more else ''}: {doubt.detail}")


def _returned(reading: Reading) -> bool | None:
    """Whether a fact is there; None where that is not known."""
    return None if isinstance(reading, Unknown) else not isinstance(reading, Absent)


def _beside(item: Path, siblings: Siblings, tree: Tree) -> tuple[list[Path], bool]:
    """Give the siblings of an item, and whether there may be more; none of one that is not there itself."""
    selection = tree.select(siblings.collection, siblings.plane)
    if item not in selection.items or _vacant(item, siblings, tree):
        return [], False
    mine = _told(item, siblings, tree)
    others = [other for other in selection.items if other != item and not _vacant(other, siblings, tree)]
    return [other for other in others if not _apart(mine, _told(other, siblings, tree))], selection.unknown is not None


def _vacant(item: Path, siblings: Siblings, tree: Tree) -> bool:
    return siblings.vacant is not None and _at(item, siblings.vacant, tree) == EMPTY


def _told(item: Path, siblings: Siblings, tree: Tree) -> list[Reading]:
    return [_at(item, ground, tree) for ground in siblings.by]


def _at(item: Path, ground: Ground, tree: Tree) -> Reading:
    keys = [segment.key for segment in item.segments if segment.key is not None]
    return tree.reading(ground.fact.fill(keys), ground.plane)


def _apart(one: Sequence[Reading], two: Sequence[Reading]) -> bool:
    """Whether two items are known to differ in what groups them."""
    told = (Absent, Unknown)
    return any(not isinstance(a, told) and not isinstance(b, told) and a != b for a, b in zip(one, two, strict=True))


def _doubt(why: str, others: Sequence[Path], has: Sequence[bool | None], unseen: bool) -> Unknown | None:
    """Say which siblings have what an item has not."""
    why = clean(why, DETAIL)
    for answer, words in ((True, "return it"), (None, "may have it, which is not known")):
        found = [clean(str(other), DETAIL) for other, each in zip(others, has, strict=True) if each is answer]
        if found:
            more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
            named = ", ".join(found[:NAMED])
            return Unknown(
                Reason.NOT_COLLECTED, f"{why}, and {len(found)} of {len(others)} siblings {words}: {named}{more}"
            )
    return Unknown(Reason.NOT_COLLECTED, f"{why}, and not all of its siblings are known") if unseen else None
