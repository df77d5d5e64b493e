"""Adds a run to the index in one transaction, all or nothing."""

import hashlib
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.change import STEADY
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Class
from rackcheck.run.event import RunDone, RunStarted
from rackcheck.run.index.file import writing
from rackcheck.run.index.parts import Docs, IndexPart, akin, difference, packed, unpacked
from rackcheck.run.index.rows import CUT_OFF, IndexedEvent, Snap, Vector, plain
from rackcheck.run.simulated_run import has_mark, of_targets

STATUSES = (Status.PASS, Status.FAIL, Status.WARN, Status.WAIVED, Status.UNKNOWN, Status.NA)
"""All verdicts; the index stores positions in this list, so new verdicts must be appended at the end."""

OUTCOMES = (Outcome.PASS, Outcome.FAIL, Outcome.INCOMPLETE)
"""All outcomes; the index stores positions in this list, so new outcomes must be appended at the end."""

BASES = 4
"""Number of fully stored parts of a class that a new part is compared with.

Four full parts of each class are enough, because a data hall has only a few kinds of machines.
"""

CACHED = 100_000
"""Maximum number of digests and names whose row ids are cached while runs are added."""


_RUN = (
    "INSERT INTO run(name, time, profile, digest, targets, nodes, outcome, interrupted, size, mtime, fails, unknowns,"
    " simulated) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)"
)
_SNAP = "INSERT INTO snap(run, node, outcome, identity, version, config, vector) VALUES(?,?,?,?,?,?,?)"
_PART = "INSERT INTO part(digest, class, unknowns, silent, base, data) VALUES(?,?,?,?,?,?)"
_WHOLE = "SELECT digest, id, data FROM part WHERE base IS NULL AND class = ? ORDER BY id DESC LIMIT ?"


@dataclass(frozen=True, slots=True)
class _Base:
    number: int
    docs: Docs


class Adder:
    """Adds runs through one connection, and caches the row ids of names."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._forget()

    def _forget(self) -> None:
        self._parts: OrderedDict[bytes, int] = OrderedDict()
        self._vectors: OrderedDict[bytes, int] = OrderedDict()
        self._bases: dict[Class, OrderedDict[bytes, _Base]] = {}
        self._names: dict[str, dict[str, int]] = {}

    def add(self, name: str, events: Iterable[IndexedEvent], size: int, mtime: int) -> None:
        """Add a run to the index, or replace it there, and commit the transaction.

        `size` (bytes) and `mtime` (nanoseconds) of `events.jsonl` are stored to detect changes. If the events are
        damaged or have no `run started`, nothing is added, and UserError is raised.
        """
        try:
            with writing(self._db):
                self._add(name, events, size, mtime)
        except BaseException:
            self._forget()  # numbers that were rolled back are no longer valid
            raise

    def _add(self, name: str, events: Iterable[IndexedEvent], size: int, mtime: int) -> None:
        drop(self._db, name)
        rows: dict[int, tuple[int | None, ...]] = {}
        counts: dict[int, tuple[int, int]] = {}
        started: RunStarted | None = None
        done: RunDone | None = None
        simulated = False
        for event in events:
            match event:
                case RunStarted():
                    started = started or event
                case RunDone():
                    done = done or event
                case Snap(node, parts, vector):
                    simulated = simulated or (Class.IDENTITY in parts and has_mark(parts[Class.IDENTITY].docs))
                    number = self._named("node", node)
                    # If a node's verdicts had to wait for its siblings, the node is yielded twice: both sets of values
                    # are kept.
                    here, before = self._row(event), rows.get(number, (None,) * 5)
                    rows[number] = tuple(old if new is None else new for new, old in zip(here, before, strict=True))
                    if vector is not None or number not in counts:
                        counts[number] = (0, 0) if vector is None else (vector.fails, vector.unknowns)
        if started is None:
            raise UserError(f"{name}/events.jsonl has no event `run started`")
        for node in started.nodes:  # nodes without an answer also belong to the run
            rows.setdefault(self._named("node", node), (None,) * 5)
        words = map(plain, (started.time, started.profile, started.digest, started.targets))
        ended = (CUT_OFF, 0) if done is None else (done.outcome.value, int(done.interrupted))
        sums = (sum(fails for fails, _ in counts.values()), sum(unknowns for _, unknowns in counts.values()))
        simulated = simulated or of_targets(started.targets)
        cursor = self._db.execute(_RUN, (name, *words, len(started.nodes), *ended, size, mtime, *sums, int(simulated)))
        self._db.executemany(_SNAP, ((cursor.lastrowid, node, *row) for node, row in sorted(rows.items())))

    def _row(self, snap: Snap) -> tuple[int | None, ...]:
        parts = [self._part(cls, snap.parts.get(cls)) for cls in STEADY]
        outcome = None if snap.outcome is None else OUTCOMES.index(snap.outcome)
        return (outcome, *parts, None if snap.vector is None else self._vector(snap.vector))

    def _named(self, table: str, name: str, column: str = "name") -> int:
        """Return the row id of a node, a rule or a reason; if there is no such row, insert it."""
        known = self._names.get(table)
        if known is None:
            known = self._names[table] = {}
        if name not in known:
            if len(known) > CACHED:
                known.clear()
            # Table and column are fixed names.
            row = self._db.execute(f"SELECT id FROM {table} WHERE {column} = ?", (name,)).fetchone()  # noqa: S608
            known[name] = row[0] if row else self._insert(f"INSERT INTO {table}({column}) VALUES(?)", name)
        return known[name]

    def _insert(self, statement: str, *values: object) -> int:
        number = self._db.execute(statement, values).lastrowid
        assert number is not None
        return number

    def _part(self, cls: Class, part: IndexPart | None) -> int | None:
        if part is None:
            return None
        return self._once(self._parts, "part", part.digest, lambda: self._new_part(cls, part))

    def _once(self, known: OrderedDict[bytes, int], table: str, digest: bytes, make: Callable[[], int]) -> int:
        number = known.get(digest)
        if number is None:
            row = self._db.execute(f"SELECT id FROM {table} WHERE digest = ?", (digest,)).fetchone()  # noqa: S608
            number = known[digest] = row[0] if row else make()
            if len(known) > CACHED:
                known.popitem(last=False)
        return number

    def _new_part(self, cls: Class, part: IndexPart) -> int:
        """Store a part as its difference from a similar part, if the difference takes less than half the space.

        The first part of a new kind of machine is stored in full, so that later parts of this kind can refer to it.
        """
        whole, bases, docs = packed(part.text), self._bases_of(cls), part.as_dict()
        head = (part.digest, cls.value, part.unknowns(), part.silent())
        nearest = max(bases.values(), key=lambda base: _alike(docs, base.docs), default=None)
        if nearest is not None and (len(bases) == BASES or akin(docs, nearest.docs)):
            less = packed(difference(docs, nearest.docs))
            if len(less) * 2 < len(whole):
                return self._insert(_PART, *head, nearest.number, less)
        number = self._insert(_PART, *head, None, whole)
        bases[part.digest] = _Base(number, docs)
        if len(bases) > BASES:
            bases.popitem(last=False)
        return number

    def _bases_of(self, cls: Class) -> OrderedDict[bytes, _Base]:
        if cls not in self._bases:
            rows = self._db.execute(_WHOLE, (cls.value, BASES)).fetchall()
            self._bases[cls] = OrderedDict((digest, _Base(n, unpacked(data))) for digest, n, data in reversed(rows))
        return self._bases[cls]

    def _vector(self, vector: Vector) -> int:
        return self._once(self._vectors, "vector", vector.digest, lambda: self._new_vector(vector))

    def _new_vector(self, vector: Vector) -> int:
        rules = [self._named("rule", rule) for rule, _, _ in vector.verdicts]
        number = self._insert(
            "INSERT INTO vector(digest, listing) VALUES(?,?)", vector.digest, self._listing(sorted(rules))
        )
        self._db.executemany(
            "INSERT INTO verdict VALUES(?,?,?,?)",
            (
                (number, rule, STATUSES.index(Status(status)), self._named("reason", reason, "words"))
                for rule, (_, status, reason) in zip(rules, vector.verdicts, strict=True)
                if status != "pass"
            ),
        )
        return number

    def _listing(self, rules: list[int]) -> int:
        digest = hashlib.sha256(",".join(map(str, rules)).encode()).digest()
        row = self._db.execute("SELECT id FROM listing WHERE digest = ?", (digest,)).fetchone()
        if row:
            return int(row[0])
        number = self._insert("INSERT INTO listing(digest) VALUES(?)", digest)
        self._db.executemany("INSERT INTO listed VALUES(?,?)", ((number, rule) for rule in rules))
        return number


def _alike(docs: Docs, base: Docs) -> int:
    return sum(base.get(path) == doc for path, doc in docs.items())


def drop(connection: sqlite3.Connection, name: str) -> None:
    """Remove a run; its parts and verdicts stay in the index until the index is rebuilt."""
    row = connection.execute("SELECT id FROM run WHERE name = ?", (name,)).fetchone()
    if row is not None:
        connection.execute("DELETE FROM snap WHERE run = ?", row)
        connection.execute("DELETE FROM run WHERE id = ?", row)
    connection.execute("DELETE FROM damaged WHERE name = ?", (name,))
