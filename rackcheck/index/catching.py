"""Catching up: the index is made to say what the run folders say, reading only those that have changed."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rackcheck import store
from rackcheck.core.fact import visible
from rackcheck.index.adding import Adder, drop
from rackcheck.index.file import Unusable, opened, writing
from rackcheck.index.rows import told
from rackcheck.mistake import Mistake

Progress = Callable[[int, int], None]
"""Called with how many runs of how many have been read."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """By what a change of a run's events is seen: bytes, and nanoseconds of its last change."""

    size: int
    mtime: int


def catch_up(connection: sqlite3.Connection, progress: Progress = lambda _done, _of: None) -> tuple[str, ...]:
    """Read every run that is new or has changed, drop those that are gone; gives what is damaged, one line each."""
    there = dict(_stamps())
    for name in _known(connection, "run").keys() | _known(connection, "damaged").keys():
        if name not in there:
            with writing(connection):
                drop(connection, name)
    known = _known(connection, "run") | _known(connection, "damaged")
    behind = [name for name, stamp in there.items() if known.get(name) != stamp]
    adder = Adder(connection)
    for done, name in enumerate(behind):
        progress(done, len(behind))
        _read(adder, connection, name, there[name])
    if behind:
        progress(len(behind), len(behind))
    return tuple(why for (why,) in connection.execute("SELECT why FROM damaged ORDER BY name"))


def _read(adder: Adder, connection: sqlite3.Connection, name: str, stamp: Stamp) -> None:
    try:
        stored = store.find(str(store.runs_folder() / name))
        adder.add(name, told(stored), stamp.size, stamp.mtime)
    except Unusable:
        raise
    except Mistake as error:
        with writing(connection):
            drop(connection, name)
            row = (name, stamp.size, stamp.mtime, visible(str(error)))
            connection.execute("INSERT INTO damaged(name, size, mtime, why) VALUES(?,?,?,?)", row)


def _stamps() -> Iterator[tuple[str, Stamp]]:
    folder = store.runs_folder()
    for name in store.ids():
        if visible(name) != name:
            continue  # no run of ours has such a name, and SQLite may have no letters for it
        try:
            stat = (folder / name / "events.jsonl").stat()
        except OSError:
            yield name, Stamp(-2, 0)  # told as damaged, once
            continue
        yield name, Stamp(stat.st_size, stat.st_mtime_ns)


def _known(connection: sqlite3.Connection, table: str) -> dict[str, Stamp]:
    rows = connection.execute(f"SELECT name, size, mtime FROM {table}")  # noqa: S608  a word of ours
    return {name: Stamp(size, mtime) for name, size, mtime in rows}


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a new index holds."""

    path: Path
    runs: int
    rows: int
    size: int
    damaged: tuple[str, ...]


def rebuild(path: Path, progress: Progress = lambda _done, _of: None) -> Rebuilt:
    """Make the index again beside the old one, and put it in its place in one step; raises Unusable."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with opened(fresh) as connection:
            damaged = catch_up(connection, progress)
            (runs,) = connection.execute("SELECT count(*) FROM run").fetchone()
            (rows,) = connection.execute("SELECT count(*) FROM snap").fetchone()
            # Everything into the one file: a log beside it would stay behind under the old name.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("PRAGMA journal_mode = DELETE")
        with suppress(Unusable), opened(path) as old:
            old.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        # The old file's log, empty now unless the file is damaged, must never meet the new file.
        for end in ("-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)
        fresh.replace(path)
        size = path.stat().st_size
    except OSError as error:
        raise Unusable(f"cannot put the new index in its place: {path}: {error.strerror}") from None
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            fresh.with_name(fresh.name + end).unlink(missing_ok=True)
    return Rebuilt(path, runs, rows, size, damaged)
