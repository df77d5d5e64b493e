"""Recorded BMCs after random changes: every fact keeps its value, or is unknown for the changed part alone.

The tree is read once over HTTPS; for each change only the probes that read a changed resource run again.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache

from changed_tree import Served, last
from mockup_server import Mockup
from noted import Noted
from trees import ANY_CASE, GB200, LENOVO, bmc_probes, read, tree

from rackcheck import spell_key
from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Absent, Reading, Unknown, Value
from rackcheck.model.resource import Body
from rackcheck.model.tree import Leaf
from rackcheck.probe.collect import collect

OTHER = ("bmc.sensor.other/", "bmc.report.other/")
IS_TEMPERATURE = re.compile(r"\.temperature(/|$)")
ELSEWHERE = frozenset({"firmware.bios", "firmware.bmc"})
"""Facts that the firmware inventory has too, in its own spelling, if their resource leaves them out."""

EVIDENCE = frozenset({"node.identified_by"})
"""Lists of what was read, which are shorter if less was read."""

SHARED, SHARING = re.compile(r"^bmc\.(cpu|dimm)/.*\.health$"), re.compile(r"/Systems/[^/]+(/(Processors|Memory))?$")
"""Facts that two systems of one machine report, those systems and their lists: if one is lost, the worse health may be."""

FAULTS: tuple[tuple[str, str, str], ...] = (
    (GB200, r"Systems/System_0/Memory: 404", "bmc.dimm"),
    (LENOVO, r"NetworkAdapters/\S+/Ports: 404", "bmc.nic/"),
    (LENOVO, r"UEFI-Pending: renamed", "firmware.component/"),
)
"""Known faults, by tree, change and facts.

If the host's list of modules does not exist, the list of another system serves, in which they have other names. If the
ports of an adapter do not exist, its older ports serve, and have a property that the newer ones leave out. The Id of a
firmware entry is the only evidence of its role, which is unknown under another Id.
"""

KEY = re.compile(r'/(?:"[^"]*"|[^."]*)')
TIME = "2026-01-01T00:00:00Z"
Bodies = Mapping[str, Body | Unknown]
Leaves = Mapping[str, Leaf]


class Outcome(StrEnum):
    """What became of one fact after a change."""

    SAME = "same"
    PART = "unknown for the part alone"
    KNOWN = "a known fault"
    WRONG = "wrong"


@dataclass(frozen=True)
class Change:
    """Bodies of a BMC that replace or add to the recorded ones.

    Facts of `parts` (URIs, with all that is below them) may become unknown, and with `totals` facts of no single item,
    and those that a holder of `collection` has of its members. `may_move` permits facts of the parts under another path, with the same value or one of `values`; `may_hide` that
    items whose list becomes unknown are missing. Items of the
    lists `grows` may be new. `renamed` has URIs before and after the change; with `by_name`, names of other resources
    contain the one before, and what is found by such a name may be unknown. With `distance`, the part is no
    temperature. If a list is unknown, items of it may come from `instead`, with one of `values`.
    """

    what: str
    bodies: Bodies
    parts: tuple[str, ...] = ()
    totals: bool = False
    collection: str = ""
    may_hide: bool = False
    values: frozenset[Reading] = frozenset()
    may_move: bool = False
    grows: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    by_name: bool = False
    instead: tuple[str, ...] = ()
    distance: bool = False

    def spelt(self, text: str) -> str:
        """A text with the name before the change."""
        for before, after in self.renamed:
            text = text.replace(last(after), last(before))
        return text

    def serves(self, source: str) -> bool:
        """Whether a fact was read from a list that serves if the changed one is missing."""
        return any(_inside(source.casefold(), each.casefold()) for each in self.instead)

    def concerns(self, source: str) -> bool:
        """Whether a fact was read from a part; some BMCs spell their links in several cases."""
        return any(_inside(source.casefold(), part.casefold()) for part in self.parts)

    def explains(self, became: Leaf | None) -> bool:
        """Whether a fact is unknown for a reason that names a part, or of an entry whose own Id was evidence."""
        if became is None or not isinstance(became.reading, Unknown):
            return False
        return any(each in became.reading.detail for each in self.parts) or any(
            _inside(became.source.casefold(), before.casefold()) for before, _ in self.renamed
        )

    def was_evidence(self, before: Reading | None) -> bool:
        """Whether evidence of a function was a part, or the Id of an entry that has another one now."""
        return bool(self.renamed) or any(each in str(before) for each in self.parts)

    def owns(self, source: str) -> bool:
        """Whether a fact was read from the resource that holds the collection."""
        return bool(self.collection) and _inside(source.casefold(), self.collection.rpartition("/")[0].casefold())

    @property
    def readings(self) -> set[Reading | None]:
        """The readings of the changed sensors."""
        bodies = (body for body in self.bodies.values() if isinstance(body, Mapping))
        return {body["Reading"] for body in bodies if isinstance(body.get("Reading"), int | float)}

    def names(self, item: str) -> bool:
        """Whether an item has the name of a part, as an excerpt of a sensor in a report has."""
        key = item.rpartition("/")[2].strip('"').rpartition(":")[2]
        return any(key == last(part) for part in self.parts)


@dataclass(frozen=True)
class Base:
    """A BMC as it was recorded: its bodies, what each probe reads of them, and which probes read a body."""

    name: str
    capture: BmcCapture
    leaves: Mapping[str, Leaves]
    readers: Mapping[str, frozenset[str]]

    @property
    def bodies(self) -> dict[str, Body]:
        """The bodies that a probe reads."""
        held = self.capture.bodies
        return {uri: body for uri in sorted(self.readers) if not isinstance(body := held[uri], Unknown)}


class Replaced(Mapping[str, Body | Unknown]):
    """Bodies, some of them replaced."""

    def __init__(self, bodies: Bodies, changes: Bodies) -> None:
        self.bodies, self.changes = bodies, changes

    def __getitem__(self, uri: str) -> Body | Unknown:
        return self.changes[uri] if uri in self.changes else self.bodies[uri]

    def __iter__(self) -> Iterator[str]:
        return iter({**self.bodies, **self.changes})

    def __len__(self) -> int:
        return len({**self.bodies, **self.changes})


@cache
def base(name: str) -> Base:
    """Read a recorded BMC over HTTPS, and its facts."""
    capture = read(name)
    served = Served(Mockup(tree(name), ignore_case=name in ANY_CASE).body)
    served.known |= capture.bodies
    capture = BmcCapture(served, capture.times)
    leaves: dict[str, Leaves] = {}
    readers: dict[str, set[str]] = {}
    for probe in bmc_probes().values():
        noted = Noted(served)
        leaves[probe.name] = collect([probe], BmcCapture(noted, capture.times))
        for uri in noted.seen:
            readers.setdefault(uri, set()).add(probe.name)
    return Base(name, capture, leaves, {uri: frozenset(names) for uri, names in readers.items()})


@dataclass(frozen=True)
class Compared:
    """One fact before and after a change; a reading of None is a fact that nothing yields."""

    path: str
    before: Reading | None
    after: Reading | None
    outcome: Outcome

    def __str__(self) -> str:
        return f"{self.path}: {self.before!s} -> {self.after!s}"


def compared(known: Base, change: Change) -> Iterator[Compared]:
    """Compare all facts of the probes that read a changed resource."""
    found = bmc_probes()
    times = dict(known.capture.times)
    for old, new in change.renamed:
        times = {uri.replace(old, new): time for uri, time in times.items()}
    capture = BmcCapture(Replaced(known.capture.bodies, change.bodies), times)
    own = {item for leaves in known.leaves.values() for item in _items_of(leaves, change.concerns)}
    owners = {item for leaves in known.leaves.values() for item in _items_of(leaves, change.owns)}
    probes = sorted(frozenset[str]().union(*(known.readers.get(uri, frozenset()) for uri in change.bodies)))
    read_now = {probe: collect([found[probe]], capture) for probe in probes}
    leaves = [each for now in read_now.values() for each in now.items()]
    hidden = {path for path, leaf in leaves if change.may_hide and isinstance(leaf.reading, Unknown)}
    for probe, now in read_now.items():
        before = known.leaves[probe]
        after = {change.spelt(path): _spelt(leaf, change) for path, leaf in now.items()} if change.renamed else now
        parts = own | _items_of(after, change.concerns)
        moved = {
            _value(leaf.reading)
            for path, leaf in before.items()
            if (item := _item(path)) in parts or change.names(item)
        }
        moved |= change.readings | change.values
        seen = _Seen(change, parts, owners, moved, hidden, _shorter(before))
        for path in {**before, **after}:
            was, became = before.get(path), after.get(path)
            outcome = _outcome(path, was, became, seen)
            if outcome is Outcome.WRONG and _known(known.name, change, path):
                outcome = Outcome.KNOWN
            yield Compared(path, _reading(was), _reading(became), outcome)


@dataclass(frozen=True)
class _Seen:
    """A change, the items of its parts and of its holder, the values that the parts had, and the unknown lists.

    `shorter` has the values of items that are named after their chassis, under their own names.
    """

    change: Change
    parts: set[str]
    owners: set[str]
    values: set[Reading | None]
    hidden: set[str]
    shorter: Mapping[str, frozenset[Reading | None]]

    def hides(self, path: str) -> bool:
        return any(path.startswith(f"{each}/") for each in self.hidden)


def _outcome(path: str, was: Leaf | None, became: Leaf | None, seen: _Seen) -> Outcome:
    change, item = seen.change, _item(path)
    before, after = _value(_reading(was)), _value(_reading(became))
    of_part = item in seen.parts or any(change.concerns(leaf.source) for leaf in (was, became) if leaf is not None)
    own = became is not None and change.concerns(became.source)
    if change.distance and own and after is not None and IS_TEMPERATURE.search(path):
        return Outcome.WRONG
    if before == after:
        return Outcome.SAME
    if path.partition("/")[0] in change.grows and (before is None if item else _grew(before, after)):
        return Outcome.SAME
    if after is None:
        total = change.totals and (
            not item or (item in seen.owners and not _of_another_property(was, change.collection))
        )
        gone = became is None and seen.hides(path)
        lost = (change.collection, *change.parts) if change.may_hide else ()
        shared = SHARED.search(path) is not None and any(map(SHARING.search, lost))
        unsure = (change.by_name or shared or change.explains(became)) and became is not None
        return Outcome.PART if of_part or total or gone or unsure or change.names(item) else Outcome.WRONG
    if became is not None and before is None and seen.hides(path) and _moved(path, became, after, seen):
        return Outcome.PART
    if isinstance(before, tuple) and isinstance(after, tuple) and not item and _by_uri(change, before, after):
        return Outcome.PART
    if (
        change.may_move
        and (of_part or change.names(item))
        and (path.endswith(".kind") or (before is None and (after in seen.values or _as_returned(path, after, seen))))
    ):
        return Outcome.PART
    if change.may_move and not item and isinstance(before, tuple) and isinstance(after, tuple):
        return Outcome.PART
    if path.endswith(".function_by") and shown(after) < shown(before) and change.was_evidence(before):
        return Outcome.PART
    if path in ELSEWHERE or (path in EVIDENCE and shown(after) < shown(before)):
        return Outcome.PART if change.totals else Outcome.WRONG
    return Outcome.WRONG


def shown(evidence: Reading | None) -> set[tuple[str, str]]:
    """The places and the values of a list of evidence: `Chassis/*.Model is 'A', 'B'` has two values."""
    texts = evidence if isinstance(evidence, tuple) else ()
    parts = [str(text).partition(" is ") for text in texts]
    return {(place, value) for place, _, values in parts for value in values.split(", ")}


def _shorter(leaves: Leaves) -> dict[str, frozenset[Reading | None]]:
    """The values of the items that are named after their chassis (`nic/Card1:A.model`), by the path without it."""
    found: dict[str, set[Reading | None]] = {}
    for path, leaf in leaves.items():
        match = KEY.search(path)
        _, colon, own = match[0][1:].strip('"').partition(":") if match else ("", "", "")
        if match and colon:
            short = f"{path[: match.start()]}/{spell_key(own)}{path[match.end() :]}"
            found.setdefault(short, set()).add(_value(leaf.reading))
    return {path: frozenset(values) for path, values in found.items()}


def _by_uri(change: Change, before: tuple[Value, ...], after: tuple[Value, ...]) -> bool:
    """Whether a lost part is in a list by the last name of its URI, as the BMC does not return its Id any more."""
    less, more = set(before) - set(after), set(after) - set(before)
    return len(less) == len(more) == 1 and len(before) == len(after) and more <= set(map(last, change.parts))


def _as_returned(path: str, after: Reading, seen: _Seen) -> bool:
    """Whether a fact is the reading of a changed sensor with the unit that the BMC returns: `8.92 A (delta)`."""
    number = str(after).partition(" ")[0]
    amounts = [v for v in seen.values if isinstance(v, float | int)]
    return path.startswith(OTHER) and any(number in (f"{v:g}", f"{v:.15g}") for v in amounts)


def _known(name: str, change: Change, path: str) -> bool:
    return any(name == tree and re.search(what, change.what) and path.startswith(facts) for tree, what, facts in FAULTS)


def _reading(leaf: Leaf | None) -> Reading | None:
    return None if leaf is None else leaf.reading


def _grew(before: Reading | None, after: Reading | None) -> bool:
    return isinstance(before, tuple) and isinstance(after, tuple) and set(before) < set(after)


def _moved(path: str, became: Leaf, after: Reading, seen: _Seen) -> bool:
    """Whether an item of an unknown list has the values that it had under another name, or in another resource.

    Of two items with one name in two chassis, one that is still listed alone is no longer named after its chassis.
    """
    return after in seen.shorter.get(path, ()) or (seen.change.serves(became.source) and after in seen.values)


def _of_another_property(leaf: Leaf | None, collection: str) -> bool:
    """Whether a fact was read from a property of the resource that holds a collection, not from the link to it."""
    holder, _, name = collection.casefold().rpartition("/")
    return (
        leaf is not None
        and re.match(f"{re.escape(holder)}#/(?!{re.escape(name)}$)", leaf.source.casefold()) is not None
    )


def _value(reading: Reading | None) -> Reading | None:
    """A known value, lists without their order; None if it is unknown or absent."""
    if isinstance(reading, Unknown | Absent):
        return None
    return tuple(sorted(reading)) if isinstance(reading, tuple) else reading


@lru_cache(maxsize=100_000)
def _item(path: str) -> str:
    """The innermost item that a fact belongs to: `psu/1` of `psu/1.health`; empty if it belongs to none."""
    end = max((match.end() for match in KEY.finditer(path)), default=0)
    return path[:end]


def _inside(source: str, part: str) -> bool:
    return source == part or source.startswith((f"{part}/", f"{part}#"))


def _items_of(leaves: Leaves, reads: Callable[[str], bool]) -> set[str]:
    """The items that have a fact from such a source."""
    return {_item(path) for path, leaf in leaves.items() if reads(leaf.source)} - {""}


def _spelt(leaf: Leaf, change: Change) -> Leaf:
    reading = leaf.reading
    if isinstance(reading, str):
        reading = change.spelt(reading)
    elif isinstance(reading, tuple):
        reading = tuple(map(change.spelt, reading))
    return replace(leaf, reading=reading, source=change.spelt(leaf.source))
