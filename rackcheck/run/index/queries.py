"""All queries of the index."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rackcheck.model.change import STEADY, Change, ComparedFacts, Turn, compare, turned
from rackcheck.model.fact import Class
from rackcheck.run.index.adding import OUTCOMES, STATUSES
from rackcheck.run.index.file import Unusable
from rackcheck.run.index.parts import Docs, patched, unpacked


@dataclass(frozen=True, slots=True)
class IndexedRun:
    """A run in the index."""

    id: int
    name: str
    time: str
    profile: str
    digest: str
    targets: str
    nodes: int
    outcome: str
    interrupted: int
    fails: int
    unknowns: int
    simulated: int


@dataclass(frozen=True, slots=True)
class IndexedState:
    """The state of a node in a run: the row ids of its parts and verdicts; equal ids mean equal contents."""

    outcome: str
    parts: tuple[int | None, int | None, int | None]
    vector: int | None


@dataclass(frozen=True, slots=True)
class Day:
    """The results of one rule in one run: `nodes` maps each verdict to its nodes."""

    run: IndexedRun
    nodes: Mapping[str, tuple[str, ...]]


_RUN = "id, name, time, profile, digest, targets, nodes, outcome, interrupted, fails, unknowns, simulated"


def runs(db: sqlite3.Connection, limit: int | None = None) -> Iterator[IndexedRun]:
    """Yield the runs, the newest first; they are sorted by name, because a name begins with the time."""
    rows = db.execute(f"SELECT {_RUN} FROM run ORDER BY name DESC LIMIT ?", (-1 if limit is None else limit,))  # noqa: S608
    return (IndexedRun(*row) for row in rows)


def count(db: sqlite3.Connection) -> int:
    """Return the number of runs."""
    return int(db.execute("SELECT count(*) FROM run").fetchone()[0])


def run(db: sqlite3.Connection, name: str) -> IndexedRun | None:
    """Return one run; None if it is not in the index."""
    row = db.execute(f"SELECT {_RUN} FROM run WHERE name = ?", (name,)).fetchone()  # noqa: S608
    return None if row is None else IndexedRun(*row)


def names(db: sqlite3.Connection, table: str) -> list[str]:
    """Return the names of all nodes or of all rules in the index; `table` is `node` or `rule`."""
    assert table in {"node", "rule"}
    return [name for (name,) in db.execute(f"SELECT name FROM {table} ORDER BY name")]  # noqa: S608


def history(db: sqlite3.Connection, node: str) -> Iterator[tuple[IndexedRun, IndexedState]]:
    """Yield the state of a node in every run that contains the node, the newest run first."""
    row = db.execute("SELECT id FROM node WHERE name = ?", (node,)).fetchone()
    if row is None:
        return
    for one in runs(db):
        found = db.execute(f"SELECT {_STATE} FROM snap WHERE run = ? AND node = ?", (one.id, *row)).fetchone()  # noqa: S608
        if found is not None:
            yield one, _state(*found)


_STATE = "outcome, identity, version, config, vector"


def _state(
    outcome: int | None, identity: int | None, version: int | None, config: int | None, vector: int | None
) -> IndexedState:
    return IndexedState("" if outcome is None else OUTCOMES[outcome].value, (identity, version, config), vector)


def states(db: sqlite3.Connection, one: IndexedRun) -> dict[str, IndexedState]:
    """Return the state of every node in a run."""
    rows = db.execute(
        f"SELECT name, {_STATE} FROM snap JOIN node ON node.id = snap.node WHERE run = ?",  # noqa: S608
        (one.id,),
    )
    return {name: _state(*row) for name, *row in rows}


def differing(
    db: sqlite3.Connection, before: IndexedRun, after: IndexedRun
) -> dict[str, tuple[IndexedState | None, IndexedState | None]]:
    """Return the nodes whose state differs between two runs, or that are in only one of them."""
    columns = ", ".join(f"{side}.{column}" for side in "ab" for column in _STATE.split(", "))
    alike = " AND ".join(f"a.{column} IS b.{column}" for column in _STATE.split(", ")[1:])
    both = db.execute(
        f"SELECT name, {columns} FROM snap a JOIN snap b ON b.run = ? AND b.node = a.node"  # noqa: S608  fixed names
        f" JOIN node ON node.id = a.node WHERE a.run = ? AND NOT ({alike})",
        (after.id, before.id),
    )
    found: dict[str, tuple[IndexedState | None, IndexedState | None]] = {
        name: (_state(*row[:5]), _state(*row[5:])) for name, *row in both
    }
    found |= {name: (state, None) for name, state in _alone(db, before, after)}
    return found | {name: (None, state) for name, state in _alone(db, after, before)}


def _alone(db: sqlite3.Connection, one: IndexedRun, other: IndexedRun) -> Iterator[tuple[str, IndexedState]]:
    """Return the nodes that are in the first run but not in the second run."""
    rows = db.execute(
        f"SELECT name, {_STATE} FROM snap JOIN node ON node.id = snap.node WHERE run = ?"  # noqa: S608
        " AND node NOT IN (SELECT node FROM snap WHERE run = ?)",
        (one.id, other.id),
    )
    return ((name, _state(*row)) for name, *row in rows)


def unchanged(
    db: sqlite3.Connection, before: IndexedRun, after: IndexedRun, classes: Iterable[Class]
) -> tuple[int, dict[str, tuple[str, ...]]]:
    """For nodes with identical facts in both runs, return the number of unknown facts, and the planes without a reply.

    The second value returned maps the planes without a reply (`bmc` or `bmc,os`) to their nodes.
    """
    same = (
        "FROM snap a JOIN snap b ON b.run = ? AND b.node = a.node AND b.identity IS a.identity"
        " AND b.version IS a.version AND b.config IS a.config JOIN part c ON c.id = a.config"
    )
    summed = " + ".join(f"{cls[0]}.unknowns" for cls in classes if cls in STEADY) or "0"
    (unknowns,) = db.execute(
        f"SELECT coalesce(sum({summed}), 0) {same}"
        " JOIN part i ON i.id = a.identity JOIN part v ON v.id = a.version WHERE a.run = ?",
        (after.id, before.id),
    ).fetchone()
    rows = db.execute(
        f"SELECT c.silent, name {same} JOIN node ON node.id = a.node WHERE a.run = ? AND c.silent <> ''",
        (after.id, before.id),
    )
    silent: dict[str, list[str]] = {}
    for planes, node in rows:
        silent.setdefault(planes, []).append(node)
    return unknowns, {planes: tuple(nodes) for planes, nodes in silent.items()}


def unread(db: sqlite3.Connection, before: IndexedRun, after: IndexedRun) -> list[str]:
    """Return the nodes that both runs list, but for which neither run has facts."""
    rows = db.execute(
        "SELECT name FROM snap a JOIN snap b ON b.run = ? AND b.node = a.node JOIN node ON node.id = a.node"
        " WHERE a.run = ? AND a.config IS NULL AND b.config IS NULL",
        (after.id, before.id),
    )
    return [name for (name,) in rows]


def common(db: sqlite3.Connection, before: IndexedRun, after: IndexedRun) -> int:
    """Return the number of nodes that are in both runs."""
    rows = "SELECT count(*) FROM snap a JOIN snap b ON b.run = ? AND b.node = a.node WHERE a.run = ?"
    return int(db.execute(rows, (after.id, before.id)).fetchone()[0])


def day(db: sqlite3.Connection, one: IndexedRun, rule: str) -> Day | None:
    """Return the results of a rule in a run; None if the rule judged no node."""
    rows = db.execute(
        "SELECT node.name, verdict.status FROM snap JOIN vector ON vector.id = snap.vector"
        " JOIN listed ON listed.listing = vector.listing AND listed.rule = (SELECT id FROM rule WHERE name = :rule)"
        " JOIN node ON node.id = snap.node"
        " LEFT JOIN verdict ON verdict.vector = snap.vector AND verdict.rule = listed.rule WHERE snap.run = :run",
        {"rule": rule, "run": one.id},
    )
    found: dict[str, list[str]] = {}
    for node, status in rows:
        found.setdefault(STATUSES[status or 0].value, []).append(node)
    return Day(one, {status: tuple(sorted(nodes)) for status, nodes in found.items()}) if found else None


class Contents:
    """Reads parts and verdicts from the index, and caches them."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.part = lru_cache(maxsize=64)(self._part)
        self._bad = lru_cache(maxsize=4096)(self._verdicts)
        self._rules = lru_cache(maxsize=64)(self._listed)
        self._changes = lru_cache(maxsize=4096)(self._changed)

    def facts(self, state: IndexedState) -> ComparedFacts:
        """Return a node's facts of the classes in `STEADY`; raises Unusable if the index is damaged."""
        return {cls: self.part(n) for cls, n in zip(STEADY, state.parts, strict=True) if n is not None}

    def turns(self, before: IndexedState, after: IndexedState) -> tuple[Turn, ...]:
        """Return the changed verdicts of one node."""
        (was, old), (now, new) = self._bad(before.vector), self._bad(after.vector)
        bad = old.keys() | new.keys()
        if was == now:
            return turned({r: old.get(r, "pass") for r in bad}, {r: new.get(r, "pass") for r in bad})
        return turned(dict.fromkeys(self._rules(was), "pass") | old, dict.fromkeys(self._rules(now), "pass") | new)

    def verdicts(self, state: IndexedState) -> Mapping[str, str]:
        """Return the verdicts of one node by rule, without those that are `pass`."""
        return self._bad(state.vector)[1]

    def reasons(self, state: IndexedState) -> dict[str, str]:
        """Return the reasons of the verdicts of one node by rule, without those that are `pass`."""
        rows = self._db.execute(
            "SELECT name, words FROM verdict JOIN rule ON rule.id = verdict.rule"
            " JOIN reason ON reason.id = verdict.reason WHERE vector = ?",
            (state.vector,),
        )
        return dict(rows)

    def changes(self, before: IndexedState, after: IndexedState, classes: Iterable[Class]) -> tuple[Change, ...] | None:
        """Return the changed facts of one node; None if the node has no facts in one of the runs."""
        if None in before.parts or None in after.parts:
            return None
        found: list[Change] = []
        for cls in classes:
            at = STEADY.index(cls)
            if before.parts[at] != after.parts[at]:
                # Lists of items are of class config; they are needed to explain why an item is missing.
                found += self._changes(cls, before.parts[at], after.parts[at], before.parts[-1], after.parts[-1])
        return tuple(found)

    def _changed(self, cls: Class, was: int, now: int, listed: int, lists: int) -> tuple[Change, ...]:
        before = {Class.CONFIG: self.part(listed), cls: self.part(was)}
        after = {Class.CONFIG: self.part(lists), cls: self.part(now)}
        return tuple(compare(before, after, (cls,)))

    def _part(self, number: int) -> Docs:
        row = self._db.execute("SELECT data, base FROM part WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise _damaged(f"part {number} is missing")
        data, base = row
        try:
            docs = unpacked(data)
            docs = docs if base is None else patched(self.part(base), docs)
        except (ValueError, TypeError) as error:
            raise _damaged(f"part {number}: {error}") from None
        if not isinstance(docs, dict) or not all(isinstance(doc, dict) for doc in docs.values()):
            raise _damaged(f"part {number} contains no facts")
        return docs

    def _verdicts(self, vector: int | None) -> tuple[int | None, dict[str, str]]:
        """Return the id of the list of a node's judged rules, and the node's verdicts except `pass`."""
        row = self._db.execute("SELECT listing FROM vector WHERE id = ?", (vector,)).fetchone()
        rows = self._db.execute(
            "SELECT name, status FROM verdict JOIN rule ON rule.id = verdict.rule WHERE vector = ?", (vector,)
        )
        return None if row is None else row[0], {name: STATUSES[status].value for name, status in rows}

    def _listed(self, listing: int | None) -> tuple[str, ...]:
        rows = self._db.execute(
            "SELECT name FROM listed JOIN rule ON rule.id = listed.rule WHERE listing = ?", (listing,)
        )
        return tuple(name for (name,) in rows)


def logical(db: sqlite3.Connection) -> Iterator[tuple[object, ...]]:
    """Yield the content of the index without row ids, so that the result is the same for any order of adding runs."""
    rows = db.execute(
        "SELECT run.name, run.time, profile, run.digest, targets, nodes, run.outcome, interrupted,"
        " run.fails, run.unknowns, node.name, snap.outcome, i.digest, v.digest, c.digest, vector.digest"
        " FROM run LEFT JOIN snap ON snap.run = run.id LEFT JOIN node ON node.id = snap.node"
        " LEFT JOIN part i ON i.id = snap.identity LEFT JOIN part v ON v.id = snap.version"
        " LEFT JOIN part c ON c.id = snap.config LEFT JOIN vector ON vector.id = snap.vector"
        " ORDER BY run.name, node.name"
    )
    yield from rows


def _damaged(what: str) -> Unusable:
    return Unusable(f"the index is damaged: {what}; `rackcheck runs rebuild` builds it again from the runs")
