"""Compares two runs: with the index if it contains both runs, else by reading their events."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from rackcheck.base.user_error import UserError
from rackcheck.model.change import STEADY, Change, ComparedFacts, Turn, beyond, compare, turned, unknown_both
from rackcheck.model.fact import Class
from rackcheck.model.part_moves import Moved, Still, joined, names_a_part, sorted_out, still
from rackcheck.run.event import RunStarted
from rackcheck.run.index import queries
from rackcheck.run.index.parts import PLANE
from rackcheck.run.index.rows import Snap, indexed_events, laid
from rackcheck.run.store import Stored


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One side of a comparison: a single run, or an acceptance, with the newest results of each node from several runs.

    `runs` are in order of time, the oldest first; `nodes` are all nodes of an acceptance, also nodes without results.
    """

    name: str
    runs: tuple[Stored, ...]
    nodes: tuple[str, ...] = ()


@dataclass
class RunPair:
    """The differences between two runs, by node.

    `alone` contains the identities of nodes with facts in only one run. `beside` contains unchanged identities, and
    facts unknown in either run.
    """

    before: str
    after: str
    changes: dict[str, tuple[Change, ...]] = field(default_factory=dict)
    turns: dict[str, tuple[Turn, ...]] = field(default_factory=dict)
    nodes: int = 0
    new: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    unknown: int = 0
    silent: dict[str, list[str]] = field(default_factory=dict)
    alone: dict[str, tuple[Change, ...]] = field(default_factory=dict)
    beside: Still = field(default_factory=Still)

    def both(self, node: str, before: ComparedFacts, after: ComparedFacts, classes: Iterable[Class]) -> None:
        """Count a node's facts that are unknown in both runs, and record its planes without a reply in both runs."""
        count, planes = unknown_both(before, after, classes)
        self.unknown += count
        if planes:
            self.silent.setdefault(",".join(p.removeprefix(PLANE) for p in planes), []).append(node)

    def turn(self, node: str, turns: tuple[Turn, ...]) -> None:
        """Store the changed verdicts of a node."""
        if turns:
            self.turns[node] = turns

    def lonely(self, node: str, before: ComparedFacts, after: ComparedFacts, classes: Iterable[Class]) -> None:
        """Store the identities of a node with facts in only one run, to find parts that moved to or from the node."""
        if Class.IDENTITY in classes:
            self.alone[node] = tuple(compare(before, after, (Class.IDENTITY,)))

    @property
    def follows(self) -> bool:
        """Whether the identity of any part differs; only then are unchanged parts needed, to find parts that moved."""
        return any(names_a_part(change) for some in self.changes.values() for change in some)

    def sorted_out(self) -> tuple[tuple[Moved, ...], dict[str, tuple[Change, ...]]]:
        """Return the moved parts, and the other changes of every node."""
        return sorted_out(self.changes, self.alone, self.beside)

    @property
    def differs(self) -> bool:
        """Whether at least one difference between the runs is certain.

        A difference is uncertain if the value or the verdict is unknown in one of the runs.
        """
        known = any(not c.kind.uncertain for changes in self.changes.values() for c in changes)
        return bool(known or self.new or self.missing or any(not t.uncertain for ts in self.turns.values() for t in ts))

    @property
    def uncertain(self) -> bool:
        """Whether there is any change, or any plane or node without a reply in both runs."""
        return bool(self.changes or self.turns or self.unread or self.silent)


def indexed(
    db: sqlite3.Connection, before: queries.IndexedRun, after: queries.IndexedRun, classes: tuple[Class, ...]
) -> RunPair:
    """Compare two runs in the index; the duration depends on the number of differences, not on the size of the runs."""
    pair, contents = RunPair(before.name, after.name), queries.Contents(db)
    for node, (was, now) in sorted(queries.differing(db, before, after).items()):
        if was is None or now is None:
            (pair.new if was is None else pair.missing).append(node)
            pair.lonely(node, _facts(contents, was), _facts(contents, now), classes)
            continue
        changes = contents.changes(was, now, classes)
        if changes is None:
            pair.unread.append(node)
            pair.lonely(node, _facts(contents, was), _facts(contents, now), classes)
        elif changes:
            pair.changes[node] = changes
        if was.parts != now.parts and changes is not None:
            pair.both(node, contents.facts(was), contents.facts(now), classes)
        pair.turn(node, contents.turns(was, now))
    pair.unread = sorted({*pair.unread, *queries.unread(db, before, after)})
    count, silent = queries.unchanged(db, before, after, classes)
    pair.unknown += count
    for planes, nodes in silent.items():
        pair.silent.setdefault(planes, []).extend(nodes)
    pair.nodes = queries.common(db, before, after)
    if pair.follows:
        pair.beside = joined(_beside(db, contents, before, after))
    return pair


def _facts(contents: queries.Contents, state: queries.IndexedState | None) -> ComparedFacts:
    return {} if state is None else contents.facts(state)


def _beside(
    db: sqlite3.Connection, contents: queries.Contents, before: queries.IndexedRun, after: queries.IndexedRun
) -> Iterator[Still]:
    """Yield, for each node that is in both runs, its unchanged identities and its unknown facts."""
    old = queries.states(db, before)
    for node, now in queries.states(db, after).items():
        if node in old:
            yield still(contents.facts(old[node]), contents.facts(now))


def read(before: ComparedRun, after: ComparedRun, classes: tuple[Class, ...], percent: float = 0.0) -> RunPair:
    """Compare two runs or acceptances by reading their events, without the index."""
    wanted = (*STEADY, *(cls for cls in classes if cls not in STEADY))
    pair = RunPair(before.name, after.name)
    old, new = merged(before, wanted), merged(after, wanted)
    for node, now in new.items():
        was = old.get(node)
        if was is None:
            pair.new.append(node)
            pair.lonely(node, {}, facts(now), classes)
            continue
        pair.nodes += 1
        here, there = facts(was), facts(now)
        if not here or not there:
            pair.unread.append(node)
            pair.lonely(node, here, there, classes)
        else:
            changes = [c for cls in classes for c in _kept(compare(here, there, (cls,)), cls, percent)]
            if changes:
                pair.changes[node] = tuple(changes)
            pair.both(node, here, there, classes)
        pair.turn(node, turned(statuses(was), statuses(now)))
    pair.missing += sorted(old.keys() - new.keys())
    for node in pair.missing:
        pair.lonely(node, facts(old[node]), {}, classes)
    if pair.follows:
        pair.beside = joined(still(facts(old[node]), facts(now)) for node, now in new.items() if node in old)
    return pair


def _kept(changes: Iterable[Change], cls: Class, percent: float) -> Iterable[Change]:
    return beyond(changes, percent) if cls is Class.MEASUREMENT else changes


def names(source: ComparedRun) -> tuple[str, ...]:
    """Return all nodes of a run or an acceptance, without reading their facts."""
    return tuple(dict.fromkeys((*source.nodes, *(node for run in source.runs for node in run.started().nodes))))


def merged(source: ComparedRun, classes: tuple[Class, ...] = STEADY, wanted: Collection[str] = ()) -> dict[str, Snap]:
    """Read the newest state of every node of a run or an acceptance; with `wanted`, of these nodes alone."""
    found = {node: Snap(node, {}) for node in source.nodes if not wanted or node in wanted}
    for stored in source.runs:
        for node, snap in snaps(stored, classes, wanted).items():
            if snap.parts or snap.vector is not None or node not in found:
                found[node] = snap
    return found


def snaps(stored: Stored, classes: tuple[Class, ...] = STEADY, wanted: Collection[str] = ()) -> dict[str, Snap]:
    """Read the state of every node of a run; with `wanted`, of these nodes alone. A node without facts has no parts."""
    found: dict[str, Snap] = {}
    for event in indexed_events(stored, classes, wanted):
        match event:
            case RunStarted():
                found |= {node: Snap(node, {}) for node in event.nodes}
            case Snap(node):
                found[node] = laid(found.get(node), event)
    if not found:
        raise UserError(f"{stored.folder}/events.jsonl contains no node")
    return {node: snap for node, snap in found.items() if not wanted or node in wanted}


def facts(snap: Snap) -> ComparedFacts:
    """Return a node's facts by class."""
    return {cls: part.docs for cls, part in snap.parts.items()}


def statuses(snap: Snap) -> dict[str, str]:
    """Return a node's verdicts by rule."""
    return {} if snap.vector is None else {rule: status for rule, status, _ in snap.vector.verdicts}
