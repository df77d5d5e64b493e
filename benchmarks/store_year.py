"""Cost of a year of daily audits of a fleet in the index, and of its queries.

The model: 62 % of the nodes share one failure, 30 % have a failure of their own, 2 % flap each day; a node's facts are
some 17 KB shared by all nodes, its own serials, and a firmware that is updated every 60 days on 39 nodes of 40.

The rows go through `Adder.add`, the layer below the reading of events: a year of them as JSON would be terabytes. Facts
that a node reported the day before are hashed once here; a real run hashes them each time. For comparison, the
simple schema, a row for each node and check, is filled over few days.
"""

import argparse
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random

from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.change import STEADY
from rackcheck.model.fact import Class
from rackcheck.run.event import RunDone, RunStarted
from rackcheck.run.index import file, pair, queries
from rackcheck.run.index.adding import Adder
from rackcheck.run.index.parts import IndexPart
from rackcheck.run.index.rows import IndexedEvent, Snap, Vector, vector_of

STATUSES = ("pass", "warn", "fail", "unknown")


class Fleet:
    """The model of a fleet, the same for each seed."""

    def __init__(self, nodes: int, checks: int) -> None:
        draw = Random(7)  # noqa: S311  a model, no secret
        self.nodes, self.checks = nodes, checks
        self.names = tuple(f"n{number:05}" for number in range(nodes))
        self.own = {n: draw.randrange(checks) for n in range(nodes) if draw.random() < 0.3}
        self.sick = frozenset(draw.sample(range(nodes), int(nodes * 0.62)))
        docs = {f"sec{i}.key{j}": {"value": f"value-{i}-{j}", "plane": "os"} for i in range(60) for j in range(12)}
        self.config = IndexPart({**docs, "plane/os": {"plane": "os", "value": "answered"}})
        self.identity = cache(self._identity)
        self.version = cache(self._version)
        self.vector = cache(self._vector)

    def codes(self, node: int, day: int) -> tuple[tuple[int, int], ...]:
        """Return a node's verdicts except pass: check and verdict."""
        found = {17: 2} if node in self.sick else {}
        if node in self.own:
            found[self.own[node]] = 1 + (node + self.own[node]) % 3
        if (node * 31 + day * 17) % 50 == 0:
            found[(node + day) % self.checks] = 2
        return tuple(sorted(found.items()))

    def _identity(self, n: int) -> IndexPart:
        mac = f"02:00:00:{n >> 16 & 255:02x}:{n >> 8 & 255:02x}:{n & 255:02x}"
        return IndexPart({"node.serial": _os(f"SN{n:06}"), "nic/eth0.mac": _os(mac)})

    def _version(self, step: int) -> IndexPart:
        return IndexPart({"firmware.bmc": _os(f"1.{step}")})

    def _vector(self, codes: tuple[tuple[int, int], ...]) -> Vector:
        bad = dict(codes)
        words = {check: f"got-{check % 5}" for check in bad}
        return vector_of([(f"rule.{c:03}", STATUSES[bad.get(c, 0)], words.get(c, "")) for c in range(self.checks)])

    def run(self, day: int) -> Iterator[IndexedEvent]:
        """Return a day's run, as typed rows."""
        stamp = f"2026-01-01T00:00:00Z+{day}"
        yield RunStarted(run_name(day), stamp, "1", "fleet", "1", "0" * 64, self.names, ("os",), "all")
        for n, name in enumerate(self.names):
            step = day // 60 if n % 40 else 0
            parts = {Class.IDENTITY: self.identity(n), Class.VERSION: self.version(step), Class.CONFIG: self.config}
            codes = self.codes(n, day)
            yield Snap(name, parts, self.vector(codes), Outcome.FAIL if codes else Outcome.PASS)
        yield RunDone(stamp, Outcome.FAIL)


def _os(value: str) -> dict[str, str]:
    return {"plane": "os", "value": value}


def run_name(day: int) -> str:
    """Return the name of a day's run."""
    return f"day-{day:04}"


def median_ms(ask: Callable[[], object]) -> float:
    """Query five times and return the median in milliseconds."""
    took = []
    for _ in range(5):
        began = time.perf_counter()
        ask()
        took.append((time.perf_counter() - began) * 1e3)
    return statistics.median(took)


def year(place: Path, fleet: Fleet, days: int) -> float:
    """Fill the index, query it, print; returns MB per day."""
    path, took = place / "index.sqlite", []
    with file.opened(path) as db:
        adder = Adder(db)
        for day in range(days):
            began = time.perf_counter()
            adder.add(run_name(day), fleet.run(day), 0, 0)
            took.append(time.perf_counter() - began)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = path.stat().st_size / 1e6
        print(f"index: {days} days x {fleet.nodes} nodes x {fleet.checks} checks: {size:.1f} MB (bar: 500 a year)")
        first, rest = took[0], statistics.median(took[1:] or took)
        print(f"add: first run {first:.2f} s, then {rest:.2f} s (median), in all {sum(took):.0f} s")
        before, after = (queries.run(db, run_name(day)) for day in (days - 2, days - 1))
        assert before is not None
        assert after is not None
        print(f"drift of a day, the query: {median_ms(lambda: queries.differing(db, before, after)):.1f} ms (bar: 100)")
        print(f"drift of a day, compared:  {median_ms(lambda: pair.indexed(db, before, after, STEADY)):.1f} ms")
        name = fleet.names[fleet.nodes // 2]
        print(f"history of a node: {median_ms(lambda: list(queries.history(db, name))):.1f} ms")
        every = list(queries.runs(db))
        asked = median_ms(lambda: [queries.day(db, run, "rule.017") for run in every[:20]])
        print(f"history of a rule, 20 runs of it: {asked:.1f} ms")
        print(f"list of 50 runs: {median_ms(lambda: list(queries.runs(db, 50))):.2f} ms")
    return size / days


def naive(place: Path, fleet: Fleet, days: int) -> float:
    """Fill a row for each node and check; returns MB per day."""
    path = place / "naive.sqlite"
    db = sqlite3.connect(path)
    db.execute(
        "CREATE TABLE v(run INT, node INT, rule INT, status INT, got TEXT, PRIMARY KEY(run, node, rule)) WITHOUT ROWID"
    )
    began = time.perf_counter()
    for day in range(days):
        for n in range(fleet.nodes):
            bad = dict(fleet.codes(n, day))
            rows = ((day, n, c, bad.get(c, 0), f"got-{c % 5}" if c in bad else "") for c in range(fleet.checks))
            db.executemany("INSERT INTO v VALUES(?,?,?,?,?)", rows)
        db.commit()
    took = (time.perf_counter() - began) / days
    size = path.stat().st_size / 1e6 / days
    query = (
        "SELECT a.node, a.rule FROM v a JOIN v b ON b.run = ? AND b.node = a.node AND b.rule = a.rule"
        " WHERE a.run = ? AND a.status <> b.status"
    )
    drift = median_ms(lambda: db.execute(query, (days - 1, days - 2)).fetchall())
    print(f"a row for each check: {size:.1f} MB and {took:.1f} s a day, drift of a day {drift:.0f} ms ({days} days)")
    db.close()
    return size


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--checks", type=int, default=300)
    parser.add_argument("--naive", type=int, default=2, help="days of the simple schema; 0 skips it")
    given = parser.parse_args()
    fleet = Fleet(given.nodes, given.checks)
    with tempfile.TemporaryDirectory() as place:
        ours = year(Path(place), fleet, given.days)
        if given.naive:
            print(f"ratio in size: {naive(Path(place), fleet, given.naive) / ours:.0f}")
    print(json.dumps({"python": sys.version.split()[0], "sqlite": sqlite3.sqlite_version}))


if __name__ == "__main__":
    main()
