"""Differences between two readings of one machine, in three-valued logic: a missing reading is not a change. Pure.

Facts have their stored form: a dictionary by class, then by path, with the reading (`value`, `absent` or `unknown`) and
the `plane` of each fact. Each collected plane also has a path, such as `plane/os`, which is unknown if the plane did
not answer.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from rackcheck.model import path as paths
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Absent, Class, Reading, Reason, Unknown
from rackcheck.model.regex import regex
from rackcheck.model.text import natural

Doc = Mapping[str, Any]
"""A reading in its stored form."""

ComparedFacts = Mapping[Class, Mapping[str, Doc]]
"""The facts of one node, by class and path."""

STEADY = (Class.IDENTITY, Class.VERSION, Class.CONFIG)
"""Classes of facts that have the same values in two readings of an unchanged machine."""

THERE = "there"
"""Placeholder for the value of a whole item, collection or plane, which exists but has no single value."""

PCI_ADDRESS = regex(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
"""Pattern of a PCI address as the kernel spells it; some collections name their items by PCI address."""


class ChangeKind(StrEnum):
    """How a fact differs between two readings."""

    CHANGED = "changed"
    APPEARED = "appeared"
    GONE = "gone"
    UNKNOWN_NOW = "unknown now"
    KNOWN_AGAIN = "known again"
    SWAPPED = "swapped"
    """The part in a position was replaced: the old part is on no node now, and the new part was on no node before."""
    NEW = "new"
    """A position contains a part that was on no node before."""
    CAME = "came"
    """A position contains a new part; it is unknown whether the part was in another position before."""
    LEFT = "left"
    """A part is no longer in its position; it is unknown whether the part is in another position now."""

    @property
    def uncertain(self) -> bool:
        """Whether the fact is unknown in one of the two readings, so that the change is not certain."""
        return self in {ChangeKind.UNKNOWN_NOW, ChangeKind.KNOWN_AGAIN}


@dataclass(frozen=True, slots=True)
class Change:
    """One fact that differs; `under` is the item, plane or collection that caused the difference.

    `also` has the paths of other items of the same PCI function that appeared or disappeared together with the item at
    `path`.
    """

    path: str
    cls: Class
    kind: ChangeKind
    before: Reading
    after: Reading
    unit: str = ""
    under: str = ""
    plane: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """A rule whose verdict changed; the verdict is "" in a reading in which the rule was not judged."""

    rule: str
    before: str
    after: str

    @property
    def uncertain(self) -> bool:
        """Whether the verdict is unknown in one of the two readings."""
        return Status.UNKNOWN in {self.before, self.after}


def reading(doc: Doc) -> Reading:
    """Read a stored reading; raises TypeError, KeyError or ValueError for an invalid form."""
    if "unknown" in doc:
        return Unknown(Reason(doc["unknown"]), _text(doc))
    if doc.get("absent") is True:
        return Absent(_text(doc))
    value = doc["value"]
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    if not isinstance(value, str | int | float) or (isinstance(value, float) and math.isnan(value)):
        raise TypeError(f"no reading: {type(value).__name__}")
    return value


def _text(doc: Doc) -> str:
    detail = doc.get("detail", "")
    if not isinstance(detail, str):
        raise TypeError("a detail is not a text")
    return detail


@dataclass(frozen=True)
class _Side:
    """One of the two compared readings of a node; `missing` states why the reading does not contain a path."""

    facts: ComparedFacts
    docs: dict[str, Doc] = field(init=False, default_factory=dict)
    classes: dict[str, Class] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for cls, docs in self.facts.items():
            self.docs.update(docs)
            self.classes.update(dict.fromkeys(docs, cls))

    def missing(self, path: str, plane: str) -> tuple[Reading, str]:
        """Return the reading of a path that is not among the facts, and the path that explains this reading.

        The explaining path is that of a silent plane, an unknown collection, a missing item or an unknown pattern; it
        is empty if there is no explanation.
        """
        silent = self.docs.get(f"{PLANE}{plane}", {})
        if "unknown" in silent:
            return reading(silent), f"{PLANE}{plane}"
        parsed = paths.parse(path)
        for collection, key in parsed.items:
            listing = self.docs.get(collection)
            if listing is None:
                continue
            if "unknown" in listing:
                return reading(listing), collection
            held = listing.get("value", ())
            if isinstance(held, list | tuple) and key not in held:
                return Absent(), str(paths.parse(collection).item(key))
        pattern = str(parsed.pattern)
        if "unknown" in self.docs.get(pattern, {}):
            return reading(self.docs[pattern]), pattern
        return Unknown(Reason.NOT_COLLECTED, "no collected source reports it"), ""


def compare(before: ComparedFacts, after: ComparedFacts, classes: Iterable[Class] = STEADY) -> Iterator[Change]:
    """Yield a change for every fact of these classes that differs, ordered by class and path.

    `before` and `after` must contain the facts of all classes, not only of the compared classes.
    """
    old, new = _Side(before), _Side(after)
    for cls in classes:
        here, there = before.get(cls, {}), after.get(cls, {})
        # If another release moved a fact to another class, the fact is reported once, in its current class.
        mine = {p for p in here.keys() | there.keys() if new.classes.get(p, cls) is cls}
        for path in sorted(mine):
            yield from _one(path, cls, old, new)


def _one(path: str, cls: Class, old: _Side, new: _Side) -> Iterator[Change]:
    was, now = old.docs.get(path), new.docs.get(path)
    if was is not None and was == now and _plain(was):
        return
    doc = now or was or {}
    plane = str(doc.get("plane", ""))
    before, text = (reading(was), "") if was is not None else old.missing(path, plane)
    after, identifies = (reading(now), "") if now is not None else new.missing(path, plane)
    units = {str(d.get("unit", "")) for d in (was, now) if d is not None and "value" in d}
    kind = kind_of(before, after, other=len(units) > 1)
    if kind is None:
        return
    yield Change(path, cls, kind, before, after, str(doc.get("unit", "")), text or identifies, plane)


def _plain(doc: Doc) -> bool:
    """Whether `==` is enough to compare stored readings; not for numbers and booleans, since True == 1 in Python."""
    return not isinstance(doc.get("value"), bool | int | float)


def kind_of(before: Reading, after: Reading, *, other: bool = False) -> ChangeKind | None:
    """Return how two readings differ; None if they are the same, or if both are unknown.

    `other` is set if the units of the two readings differ.
    """
    match before, after:
        case (Unknown(), Unknown()) | (Absent(), Absent()):
            return None
        case _, Unknown():
            return ChangeKind.UNKNOWN_NOW
        case Unknown(), _:
            return ChangeKind.KNOWN_AGAIN
        case _, Absent():
            return ChangeKind.GONE
        case Absent(), _:
            return ChangeKind.APPEARED
    alike = before == after and isinstance(before, bool) == isinstance(after, bool)
    return None if alike and not other else ChangeKind.CHANGED


def gathered(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Merge changes with the same cause, such as a removed item or a silent plane, and order them by class and path."""
    found: dict[str, Change] = {}
    addresses: dict[str, str] = {}
    for change in sorted(changes, key=lambda c: (c.under != "", _order(c))):
        if change.path.endswith(".pci") and change.kind in _LEFT | _CAME:
            addresses[item_of(change.path)] = str(change.after if isinstance(change.before, Absent) else change.before)
        if change.under in {"", change.path}:
            found.setdefault(change.path, change)
        elif change.under not in found:
            before, after = (r if isinstance(r, Absent | Unknown) else THERE for r in (change.before, change.after))
            found[change.under] = replace(change, path=change.under, before=before, after=after, unit="")
    items = {collection for path, change in found.items() if change.under for collection in _collections(path)}
    # A derived fact of an item that is gone, or has appeared, may still have a value of its own.
    whole = {path for path, change in found.items() if change.under == path}
    rows = [c for path, c in found.items() if (path not in items or c.under) and item_of(path) not in whole]
    return tuple(sorted(_one_row_per_part(_parts(_with_silent_planes(rows), addresses)), key=_order))


PLANE = "plane/"
"""The beginning of the path of a whole plane, such as `plane/bmc`, in comparisons."""

TRACKED = ("serial", "uuid", "guid")
"""The last path words of facts that identify a part, such as `gpu/0.serial`; the preferred word is the first.

A bus address identifies a position, not a part, and is therefore not listed.
"""

_LEFT = frozenset({ChangeKind.GONE, ChangeKind.LEFT})
_CAME = frozenset({ChangeKind.APPEARED, ChangeKind.NEW, ChangeKind.CAME})


def _parts(changes: Iterable[Change], addresses: Mapping[str, str]) -> Iterator[Change]:
    """Merge changes of items of one PCI function that appeared or disappeared together; yield others unchanged.

    A merged change has the path of one of its items, preferably an item that is not named by its PCI address, then the
    item with the shortest path; `also` has the paths of its other items.
    """
    parts: dict[tuple[str, bool], list[Change]] = {}
    for change in changes:
        address = addresses.get(change.path, paths.parse(change.path).segments[-1].key or "")
        if change.under == change.path and change.kind in _LEFT | _CAME and PCI_ADDRESS.fullmatch(address):
            parts.setdefault((address, change.kind in _LEFT), []).append(change)
        else:
            yield change
    for (address, _), some in parts.items():
        first, *rest = sorted(some, key=lambda c: (address in c.path, c.path.count("."), natural(c.path)))
        yield replace(first, also=tuple(sorted((c.path for c in rest), key=natural)))


def _with_silent_planes(changes: Iterable[Change]) -> Iterator[Change]:
    """Merge facts that are unknown now for the same reason as a whole plane with the plane: they are made of its facts.

    `also` of the merged change has the paths of these facts.
    """
    rows = list(changes)
    planes = [c for c in rows if c.kind is ChangeKind.UNKNOWN_NOW and c.path.startswith(PLANE)]
    under: dict[str, list[str]] = {plane.path: [] for plane in planes}
    for change in rows:
        why = change.after if change.kind is ChangeKind.UNKNOWN_NOW and change not in planes else None
        plane = next((plane for plane in planes if _same_reason(why, plane.after)), None)
        if plane is not None:
            under[plane.path].append(change.path)
        elif change not in planes:
            yield change
    for plane in planes:
        yield replace(plane, also=tuple(sorted(under[plane.path], key=natural)))


def _same_reason(why: Reading | None, plane: Reading) -> bool:
    """Whether a fact is unknown for the reason of a plane; a derived fact has only the beginning of a long detail."""
    if not isinstance(why, Unknown) or not isinstance(plane, Unknown) or why.reason is not plane.reason:
        return False
    return why.detail == plane.detail or (why.detail.endswith("…") and plane.detail.startswith(why.detail[:-1]))


def _one_row_per_part(changes: Iterable[Change]) -> Iterator[Change]:
    """Merge changes that replaced the same identifier of one node by the same other one; yield others unchanged.

    Several facts of both planes may have the serial number of one part. The merged change has the fact of the operating
    system, if there is one; `also` has the items of the other facts. The UUID of a part whose serial number was
    replaced, too, is merged with it.
    """
    parts: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        path, before, after = paths.parse(change.path), change.before, change.after
        tracked = change.cls is Class.IDENTITY and path.segments[-1].key is None and path.segments[-1].word in TRACKED
        if tracked and not change.also and isinstance(before, str) and isinstance(after, str):
            parts.setdefault((same_id(before), same_id(after)), []).append(change)
        else:
            yield change
    kept: dict[str, list[Change]] = {}  # by the item of the first change
    for some in sorted(parts.values(), key=lambda some: min(TRACKED.index(_last(c)) for c in some)):
        items = {item_of(change.path) for change in some}
        lead = next((rows for rows in kept.values() if items <= {item_of(row.path) for row in rows}), None)
        if lead is None:
            kept[item_of(some[0].path)] = list(some)
        else:
            lead += some
    for some in kept.values():
        first, *rest = sorted(some, key=lambda c: (TRACKED.index(_last(c)), plane_order(c.path)))
        others = {item_of(change.path) for change in rest} - {item_of(first.path)}
        yield replace(first, also=tuple(sorted(others, key=plane_order)))


def _last(change: Change) -> str:
    return paths.parse(change.path).segments[-1].word


def item_of(path: str) -> str:
    """Return the path of the item, or of the group of facts, to which a fact belongs: `gpu/3` for `gpu/3.serial`."""
    return str(paths.Path(paths.parse(path).segments[:-1]))


def plane_order(path: str) -> tuple[object, ...]:
    """Return a sort key by which facts of the operating system come before those of the BMC, and short paths first."""
    return (path.startswith("bmc."), path.count("."), natural(path))


def same_id(text: str) -> str:
    """Return an identifier in the form in which both planes agree: `GPU-1A2B…` and `1a2b…` are one UUID."""
    return text.casefold().removeprefix("gpu-")


def _collections(path: str) -> Iterator[str]:
    """If a path is that of an item, yield the item's collection, whose list changed only because of this item."""
    parsed = paths.parse(path)
    if parsed.segments[-1].key is not None:
        yield parsed.items[-1][0]


def _order(change: Change) -> tuple[int, tuple[tuple[int, int, str], ...]]:
    return list(Class).index(change.cls), natural(change.path)


def beyond(changes: Iterable[Change], percent: float) -> Iterator[Change]:
    """Yield changes of more than `percent` %, and all facts that appeared, disappeared, or became known or unknown."""
    for change in changes:
        share = moved_by(change) if change.kind is ChangeKind.CHANGED else math.inf
        if share is not None and abs(share) > percent:
            yield change


def moved_by(change: Change) -> float | None:
    """Return the rise of a number in percent, negative if it fell; None if one side is not a number."""
    before, after = _number(change.before), _number(change.after)
    if before is None or after is None:
        return None
    if before == 0:
        return math.copysign(math.inf, after) if after else 0.0
    return (after - before) / abs(before) * 100


def _number(value: Reading) -> float | None:
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def turned(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Turn, ...]:
    """Return the rules whose verdict changed, ordered by name; `before` and `after` map rules to verdicts."""
    rules = sorted(before.keys() | after.keys(), key=natural)
    turns = (Turn(rule, before.get(rule, ""), after.get(rule, "")) for rule in rules)
    return tuple(turn for turn in turns if turn.before != turn.after)


@dataclass(frozen=True, slots=True)
class Folded:
    """One change on many nodes; `alike` is set if the value before and the value after are the same on all nodes."""

    change: Change
    nodes: tuple[str, ...]
    alike: bool


def folded(changes: Mapping[str, Iterable[Change]]) -> tuple[Folded, ...]:
    """Group changes that are identical on many nodes; identities, which differ on each node, are grouped by path."""
    found: dict[tuple[object, ...], list[tuple[str, Change]]] = {}
    for node in sorted(changes, key=natural):
        for change in changes[node]:
            found.setdefault(_key(change), []).append((node, change))
    many = [
        Folded(rows[0][1], tuple(node for node, _ in rows), len({_values(c) for _, c in rows}) == 1)
        for rows in found.values()
    ]
    return tuple(sorted(many, key=lambda f: (_order(f.change), f.change.kind, -len(f.nodes), str(_values(f.change)))))


def _key(change: Change) -> tuple[object, ...]:
    head = (change.cls, change.path, change.kind, change.also)
    match change.kind:
        case ChangeKind.UNKNOWN_NOW:
            return (*head, change.after)
        case ChangeKind.KNOWN_AGAIN:
            return (*head, change.before)
        case ChangeKind.CHANGED if change.cls is Class.MEASUREMENT:
            return (*head, (moved_by(change) or 0.0) > 0)
        case _ if change.cls is Class.IDENTITY:
            return head
    return (*head, *_values(change))


def _values(change: Change) -> tuple[str, str, str]:
    return repr(change.before), repr(change.after), change.unit


def unknown_both(
    before: ComparedFacts, after: ComparedFacts, classes: Iterable[Class] = STEADY
) -> tuple[int, tuple[str, ...]]:
    """Count facts of these classes that are unknown in both readings, and list the planes that were silent in both."""
    count, wanted = 0, set(classes)
    planes: list[str] = []
    for cls in STEADY:
        here, there = before.get(cls, {}), after.get(cls, {})
        for path in here.keys() & there.keys():
            if "unknown" in here[path] and "unknown" in there[path]:
                count += cls in wanted and not path.startswith(PLANE)
                planes += [path] if path.startswith(PLANE) else []
    return count, tuple(sorted(planes))
