"""What differs between two readings of one machine, in three-valued logic: nobody's silence is a change. Pure.

Facts come as they are kept: by class, each path with its reading as on the wire (`value`, `absent` or `unknown`) and
its `plane`. Beside them stands one path for each plane that was asked, `plane/os`, unknown where that plane was silent.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from rackcheck.model import path as paths
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Absent, Class, Reading, Reason, Unknown
from rackcheck.model.text import natural

Doc = Mapping[str, Any]
"""A reading as on the wire."""

ComparedFacts = Mapping[Class, Mapping[str, Doc]]
"""What one node told, by class and path."""

STEADY = (Class.IDENTITY, Class.VERSION, Class.CONFIG)
"""Classes that two readings of an unchanged machine tell alike."""

THERE = "there"
"""What is said of a whole item, or of facts below a place that went silent."""


class ChangeKind(StrEnum):
    """How a fact differs."""

    CHANGED = "changed"
    APPEARED = "appeared"
    GONE = "gone"
    UNKNOWN_NOW = "unknown now"
    KNOWN_AGAIN = "known again"
    SWAPPED = "swapped"
    """A part that is nowhere now gave its place to one that was nowhere before."""
    NEW = "new"
    """A part that was nowhere before is here."""
    CAME = "came"
    """A part is here of which nobody can tell whether it was elsewhere before."""
    LEFT = "left"
    """A part is no longer here, and nobody can tell whether it is elsewhere."""

    @property
    def uncertain(self) -> bool:
        """Whether one side is not known, so that nobody can tell."""
        return self in {ChangeKind.UNKNOWN_NOW, ChangeKind.KNOWN_AGAIN}


@dataclass(frozen=True, slots=True)
class Change:
    """One fact that differs; `under` names the item, plane or collection because of which it does."""

    path: str
    cls: Class
    kind: ChangeKind
    before: Reading
    after: Reading
    unit: str = ""
    under: str = ""
    plane: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """A rule's verdict that is another than before; "" where the rule was not judged."""

    rule: str
    before: str
    after: str

    @property
    def uncertain(self) -> bool:
        """Whether one side is not known."""
        return Status.UNKNOWN in {self.before, self.after}


def reading(doc: Doc) -> Reading:
    """Read a reading from the wire; raises TypeError, KeyError or ValueError at a form that none of ours has."""
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
        raise TypeError("a detail is no text")
    return detail


@dataclass(frozen=True)
class _Side:
    """One of two readings; what it does not hold, it says why."""

    facts: ComparedFacts
    docs: dict[str, Doc] = field(init=False, default_factory=dict)
    classes: dict[str, Class] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for cls, docs in self.facts.items():
            self.docs.update(docs)
            self.classes.update(dict.fromkeys(docs, cls))

    def missing(self, path: str, plane: str) -> tuple[Reading, str]:
        """Say why a path is not among the facts, as judging would, and which other path says so."""
        silent = self.docs.get(f"plane/{plane}", {})
        if "unknown" in silent:
            return reading(silent), f"plane/{plane}"
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
        return Unknown(Reason.NOT_COLLECTED, "nothing that was asked tells it"), ""


def compare(before: ComparedFacts, after: ComparedFacts, classes: Iterable[Class] = STEADY) -> Iterator[Change]:
    """Give every fact of these classes that differs, by class and path; both sides bring all the facts they have."""
    old, new = _Side(before), _Side(after)
    for cls in classes:
        here, there = before.get(cls, {}), after.get(cls, {})
        # A fact whose class another release changed is told once, in the class that it has now.
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
    after, tells = (reading(now), "") if now is not None else new.missing(path, plane)
    units = {str(d.get("unit", "")) for d in (was, now) if d is not None and "value" in d}
    kind = kind_of(before, after, other=len(units) > 1)
    if kind is None:
        return
    yield Change(path, cls, kind, before, after, str(doc.get("unit", "")), text or tells, plane)


def _plain(doc: Doc) -> bool:
    """Whether equal documents are equal readings: to Python true is 1."""
    return not isinstance(doc.get("value"), bool | int | float)


def kind_of(before: Reading, after: Reading, *, other: bool = False) -> ChangeKind | None:
    """Say how two readings differ; None where they do not, or where neither is known. `other`: in another unit."""
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
    """Say once what has one cause: an item that is gone, a plane that was silent; by class and path."""
    found: dict[str, Change] = {}
    for change in sorted(changes, key=lambda c: (c.under != "", _order(c))):
        if change.under in {"", change.path}:
            found.setdefault(change.path, change)
        elif change.under not in found:
            before, after = (r if isinstance(r, Absent | Unknown) else THERE for r in (change.before, change.after))
            found[change.under] = replace(change, path=change.under, before=before, after=after, unit="")
    items = {collection for path, change in found.items() if change.under for collection in _collections(path)}
    rows = (change for path, change in found.items() if path not in items or change.under)
    return tuple(sorted(rows, key=_order))


def _collections(path: str) -> Iterator[str]:
    """Give the collections whose listing says no more than that this item came or went."""
    parsed = paths.parse(path)
    if parsed.segments[-1].key is not None:
        yield parsed.items[-1][0]


def _order(change: Change) -> tuple[int, tuple[tuple[int, int, str], ...]]:
    return list(Class).index(change.cls), natural(change.path)


def beyond(changes: Iterable[Change], percent: float) -> Iterator[Change]:
    """Keep of measurements only what rose or fell by more than this share of what it was, and what is not known."""
    for change in changes:
        share = moved_by(change) if change.kind is ChangeKind.CHANGED else math.inf
        if share is not None and abs(share) > percent:
            yield change


def moved_by(change: Change) -> float | None:
    """Give by how many percent a number rose; None where one side is none."""
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
    """Give every rule whose verdict is another, by name; both sides map rules to verdicts."""
    rules = sorted(before.keys() | after.keys(), key=natural)
    turns = (Turn(rule, before.get(rule, ""), after.get(rule, "")) for rule in rules)
    return tuple(turn for turn in turns if turn.before != turn.after)


@dataclass(frozen=True, slots=True)
class Folded:
    """One change of many nodes; `alike` where all of them went from the same to the same."""

    change: Change
    nodes: tuple[str, ...]
    alike: bool


def folded(changes: Mapping[str, Iterable[Change]]) -> tuple[Folded, ...]:
    """Gather what changed on many nodes alike; identities, which are each node's own, by path alone."""
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
    head = (change.cls, change.path, change.kind)
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
    """Count facts of these classes that neither side knows, and name the planes that were silent both times."""
    count, wanted = 0, set(classes)
    planes: list[str] = []
    for cls in STEADY:
        here, there = before.get(cls, {}), after.get(cls, {})
        for path in here.keys() & there.keys():
            if "unknown" in here[path] and "unknown" in there[path]:
                count += cls in wanted and not path.startswith("plane/")
                planes += [path] if path.startswith("plane/") else []
    return count, tuple(sorted(planes))
