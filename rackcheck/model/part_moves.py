"""Finds the parts that moved between two readings. A part is recognised by its identifiers, not by its slot. Pure.

The identifiers of all nodes are compared, since a part may have moved to another node. A part is reported as `gone`,
`new` or `swapped` only if all parts of its kind were collected in the other reading; otherwise it may be in a position
that was not collected.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from rackcheck.model import path as paths
from rackcheck.model.change import PLANE, THERE, TRACKED, Change, ChangeKind, ComparedFacts, item_of
from rackcheck.model.fact import Absent, Class
from rackcheck.model.text import natural

PartPlace = tuple[str, str]
"""The position of a part: the name of a node, and the path of an item of this node."""

Id = tuple[str, str]
"""An identifier of a part: the pattern of the fact's path, and the value.

The path pattern is part of the identifier, because parts of two kinds may have the same serial number.
"""


@dataclass(frozen=True, slots=True)
class Moved:
    """One part that moved: its identifiers (`serial`, ...), the preferred first; its old and its new position."""

    ids: tuple[tuple[str, str], ...]
    was: PartPlace
    now: PartPlace


@dataclass(frozen=True, slots=True)
class Still:
    """What a list of changes does not show: identifiers that stayed in a node, and what is unknown in each reading.

    `before` (first reading) and `after` (second reading) contain the paths of silent planes and the patterns of unknown
    facts and collections.
    """

    held: frozenset[Id] = frozenset()
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    unread_node: bool = False
    """Whether some node is entirely unknown in one reading or in both: such a node may contain any part."""


def names_a_part(change: Change) -> bool:
    """Whether this is a change of a fact that identifies a part."""
    return change.cls is Class.IDENTITY and _word(change.path) in TRACKED


def still(before: ComparedFacts, after: ComparedFacts) -> Still:
    """Return the identifiers that stayed in one node, and what is unknown about the node in each reading."""
    old, new = before.get(Class.IDENTITY, {}), after.get(Class.IDENTITY, {})
    held = {
        (_pattern(path), str(old[path]["value"]))
        for path in old.keys() & new.keys()
        if _word(path) in TRACKED and "value" in old[path] and old[path].get("value") == new[path].get("value")
    }
    return Still(frozenset(held), frozenset(_unknown(before)), frozenset(_unknown(after)), not before and not after)


def joined(many: Iterable[Still]) -> Still:
    """Merge the `Still` objects of several nodes into one."""
    held: set[Id] = set()
    before: set[str] = set()
    after: set[str] = set()
    unread = False
    for one in many:
        held |= one.held
        before |= one.before
        after |= one.after
        unread = unread or one.unread_node
    return Still(frozenset(held), frozenset(before), frozenset(after), unread)


def _unknown(facts: ComparedFacts) -> Iterator[str]:
    for cls in (Class.IDENTITY, Class.CONFIG):
        for path, doc in facts.get(cls, {}).items():
            if "unknown" in doc:
                yield path if path.startswith(PLANE) else _pattern(path)


def _word(path: str) -> str:
    last = paths.parse(path).segments[-1]
    return last.word if last.key is None else ""


def _pattern(path: str) -> str:
    return str(paths.parse(path).pattern)


def sorted_out(
    changes: Mapping[str, Iterable[Change]],
    alone: Mapping[str, Iterable[Change]] | None = None,
    beside: Still | None = None,
) -> tuple[tuple[Moved, ...], dict[str, tuple[Change, ...]]]:
    """Separate the changes of all nodes into parts that moved and other changes; no identity is in both results.

    `alone` contains the changes of identities on nodes that only one of the two readings contains: parts may move from
    and to these nodes, but no other change of these nodes is reported. A node in `alone` without identities may have
    contained any part. `beside` contains the identifiers that did not change, and what is unknown in each reading.
    """
    values = {node: tuple(changes[node]) for node in sorted(changes, key=natural)}
    other = {node: tuple((alone or {})[node]) for node in sorted(alone or {}, key=natural)}
    known = beside or Still()
    if not all(other.values()):
        known = replace(known, unread_node=True)
    ends = _Ends({**other, **values} if not other.keys() & values.keys() else _both(other, values), known)
    moved = tuple(
        Moved(tuple(sorted(ids, key=lambda i: TRACKED.index(i[0]))), was, now)
        for (was, now), ids in sorted(ends.moved.items(), key=lambda m: [natural(word) for end in m[0] for word in end])
    )
    rest = {node: tuple(_rest(node, some, ends)) for node, some in values.items()}
    return moved, {node: some for node, some in rest.items() if some}


def _both(one: dict[str, tuple[Change, ...]], other: dict[str, tuple[Change, ...]]) -> dict[str, tuple[Change, ...]]:
    return {node: (*one.get(node, ()), *other.get(node, ())) for node in sorted(one | other, key=natural)}


class _Ends:
    """Where each identity disappeared and appeared, which pairs are moves, and what is certain about the rest."""

    def __init__(self, changes: Mapping[str, tuple[Change, ...]], beside: Still) -> None:
        self.left: dict[Id, list[PartPlace]] = {}
        self.came: dict[Id, list[PartPlace]] = {}
        before, after = set(beside.before), set(beside.after)
        for node, some in changes.items():
            for change in some:
                for kind, hidden in ((ChangeKind.KNOWN_AGAIN, before), (ChangeKind.UNKNOWN_NOW, after)):
                    if change.kind is kind:
                        hidden |= {p if p.startswith(PLANE) else _pattern(p) for p in (change.path, change.under) if p}
                if names_a_part(change):
                    for side, value in ((self.left, change.before), (self.came, change.after)):
                        if isinstance(value, str) and value and value != THERE:
                            side.setdefault((_pattern(change.path), value), []).append((node, item_of(change.path)))
        self._hidden = {"left": after, "came": before}
        self._held, self._unread_node = beside.held, beside.unread_node
        self.moved: dict[tuple[PartPlace, PartPlace], list[tuple[str, str]]] = {}
        self._paired: Counter[tuple[str, Id, PartPlace]] = Counter()
        # Identifiers of a single part are paired first, then identifiers that several parts share (two parts on one
        # board).
        for shared in (False, True):
            for one, was in self.left.items():
                now = self.came.get(one, [])
                if len(was) == len(now) and (len(was) > 1) is shared:
                    self._pair(one, list(was), list(now))

    def _pair(self, one: Id, was: list[PartPlace], now: list[PartPlace]) -> None:
        known = [(a, b) for a in was for b in now if (a, b) in self.moved] if len(was) > 1 else []
        for a, b in known:
            if a in was and b in now:
                was.remove(a)
                now.remove(b)
                self._move(one, a, b)
        for a, b in zip(was, now, strict=True):
            self._move(one, a, b)

    def _move(self, one: Id, was: PartPlace, now: PartPlace) -> None:
        self.moved.setdefault((was, now), []).append((_word(one[0]), one[1]))
        self._paired["left", one, was] += 1
        self._paired["came", one, now] += 1

    def is_moved(self, end: str, node: str, change: Change) -> bool:
        """Whether the part that this change removed (`left`) or added (`came`) is reported as a move."""
        return (end, self._id(end, change), (node, item_of(change.path))) in self._paired

    def is_sure(self, end: str, change: Change) -> bool:
        """Whether a removed part is certainly on no node now, or an added part was certainly on no node before."""
        one = self._id(end, change)
        if self._unread_node or one in (self.came if end == "left" else self.left) or one in self._held:
            return False
        segments = paths.parse(one[0]).segments
        hides = {str(paths.Path(segments[:depth])) for depth in range(1, len(segments) + 1)}
        hides |= {str(paths.Path((*segments[:n], paths.Segment(s.word)))) for n, s in enumerate(segments) if s.key}
        silent = {path for path in self._hidden[end] if path.startswith(PLANE)}
        return not hides & self._hidden[end] and not (PLANE + change.plane in silent if change.plane else silent)

    @staticmethod
    def _id(end: str, change: Change) -> Id:
        return _pattern(change.path), str(change.before if end == "left" else change.after)


def _rest(node: str, changes: tuple[Change, ...], ends: _Ends) -> Iterator[Change]:
    """Yield the changes of a node other than moves."""
    items = dict(_items(node, changes, ends))
    moved = {item for item, change in items.items() if change is None}
    listings = {str(paths.parse(item).items[-1][0]) for item in moved}
    elsewhere = {
        item_of(c.path)
        for c in changes
        if names_a_part(c) and c.kind is ChangeKind.CHANGED and any(ends.is_moved(e, node, c) for e in ("left", "came"))
    }
    for change in changes:
        if change.under in items:
            if change.under in moved and names_a_part(change) and item_of(change.path) == change.under:
                yield from _identity(node, replace(change, under=""), ends)
            elif change.under not in moved and change.path == f"{change.under}.pci":
                yield change  # `gathered` finds the other items of the same PCI function by it
        elif names_a_part(change):
            yield from _identity(node, change, ends)
        elif change.kind is ChangeKind.CHANGED and change.path in listings:
            continue  # reported by the moves
        elif change.cls is Class.IDENTITY and not change.kind.uncertain and item_of(change.path) in elsewhere:
            continue  # two parts were compared
        else:
            yield change
    yield from (change for change in items.values() if change is not None)


def _items(node: str, changes: tuple[Change, ...], ends: _Ends) -> Iterator[tuple[str, Change | None]]:
    """Yield each item that was added or removed with its part, and the change to report (None if the part moved)."""
    found: dict[str, list[Change]] = {}
    for change in changes:
        if (
            names_a_part(change)
            and change.under == item_of(change.path)
            and change.kind in {ChangeKind.APPEARED, ChangeKind.GONE}
        ):
            found.setdefault(change.under, []).append(change)
    for item, parts in found.items():
        end = "left" if parts[0].kind is ChangeKind.GONE else "came"
        if paths.parse(item).segments[-1].key is None:
            continue
        if any(ends.is_moved(end, node, change) for change in parts):
            yield item, None
            continue
        best = min(parts, key=lambda c: TRACKED.index(_word(c.path)))
        kind = best.kind if ends.is_sure(end, best) else (ChangeKind.LEFT if end == "left" else ChangeKind.CAME)
        yield item, replace(best, path=item, kind=kind)


def _identity(node: str, change: Change, ends: _Ends) -> Iterator[Change]:
    """Yield what is left of an identity's change without moves; its kind depends on what is certain about the parts."""
    left, came = (isinstance(value, str) and value != "" for value in (change.before, change.after))
    went, brought = left and ends.is_moved("left", node, change), came and ends.is_moved("came", node, change)
    match change.kind:
        case ChangeKind.UNKNOWN_NOW:
            yield replace(change, before=THERE) if went else change
        case ChangeKind.KNOWN_AGAIN:
            yield replace(change, after=THERE) if brought else change
        case _ if left and came and not went and not brought:
            sure = ends.is_sure("left", change) and ends.is_sure("came", change)
            yield replace(change, kind=ChangeKind.SWAPPED) if sure else change
        case _ if left and not went:
            kind = ChangeKind.GONE if ends.is_sure("left", change) else ChangeKind.LEFT
            yield replace(change, kind=kind, after=Absent())
        case _ if came and not brought:
            kind = ChangeKind.NEW if ends.is_sure("came", change) else ChangeKind.CAME
            yield replace(change, kind=kind, before=Absent())
        case _ if not left and not came:
            yield change
