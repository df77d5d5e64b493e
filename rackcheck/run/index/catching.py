"""Updates the index from the folders of the runs; only new and changed runs are read."""

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import visible
from rackcheck.run import store
from rackcheck.run.index.adding import Adder, drop
from rackcheck.run.index.file import Unusable, opened, writing
from rackcheck.run.index.rows import indexed_events

OnProgress = Callable[[int, int], None]
"""A function that is called with the number of runs read so far and the total number of runs."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The size in bytes and the modification time in nanoseconds of a run's `events.jsonl`, to detect changes."""

    size: int
    mtime: int


def closed() -> tuple[str, ...]:
    """Return the names of runs that this user may not read; raises UserError if the folder of all runs cannot be read.

    Without this check, a user without permission would get an empty list of runs.
    """
    folder = store.runs_folder()
    try:
        with os.scandir(folder) as found:
            names = sorted(entry.name for entry in found)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise UserError(f"cannot read {_barred(folder)}: {error.strerror}") from None
    return tuple(name for name in names if _shut(folder / name))


def _barred(folder: Path) -> Path:
    """Return the folder that denies access: the topmost parent that this user may not enter, else the folder itself."""
    effective = os.access in os.supports_effective_ids
    above = reversed(folder.parents)
    return next((one for one in above if not os.access(one, os.X_OK, effective_ids=effective)), folder)


def _shut(place: Path) -> bool:
    try:
        (place / "run.json").stat()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def catch_up(connection: sqlite3.Connection, progress: OnProgress = lambda _done, _of: None) -> tuple[str, ...]:
    """Add new and changed runs, remove deleted runs, and return one line for each run that cannot be read.

    Raises UserError if the folder of all runs cannot be read; the index is not changed then.
    """
    shut = closed()
    there = dict(_stamps())
    for name in _known(connection, "run").keys() | _known(connection, "damaged").keys():
        if name not in there and name not in shut:
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
    damaged = [why for (why,) in connection.execute("SELECT why FROM damaged ORDER BY name")]
    return (*damaged, *map(barred, shut))


def barred(name: str) -> str:
    """Format the error for a run that this user may not read."""
    return f"cannot read {visible(str(store.runs_folder() / name))}: {os.strerror(errno.EACCES)}"


def _read(adder: Adder, connection: sqlite3.Connection, name: str, stamp: Stamp) -> None:
    try:
        stored = store.find(str(store.runs_folder() / name))
        adder.add(name, indexed_events(stored), stamp.size, stamp.mtime)
    except Unusable:
        raise
    except UserError as error:
        with writing(connection):
            drop(connection, name)
            row = (name, stamp.size, stamp.mtime, visible(str(error)))
            connection.execute("INSERT INTO damaged(name, size, mtime, why) VALUES(?,?,?,?)", row)


def _stamps() -> Iterator[tuple[str, Stamp]]:
    folder = store.runs_folder()
    for name in store.ids():
        if visible(name) != name:
            continue  # a run never has such a name, and SQLite may not be able to store it
        try:
            stat = (folder / name / "events.jsonl").stat()
        except OSError:
            yield name, Stamp(-2, 0)  # reported as damaged, once
            continue
        yield name, Stamp(stat.st_size, stat.st_mtime_ns)


def _known(connection: sqlite3.Connection, table: str) -> dict[str, Stamp]:
    rows = connection.execute(f"SELECT name, size, mtime FROM {table}")  # noqa: S608  a fixed table name
    return {name: Stamp(size, mtime) for name, size, mtime in rows}


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The result of a rebuild: the path, the contents and the size of the new index, and the errors of damaged runs."""

    path: Path
    runs: int
    rows: int
    size: int
    damaged: tuple[str, ...]


def rebuild(path: Path, progress: OnProgress = lambda _done, _of: None) -> Rebuilt:
    """Build a new index, then replace the old index atomically; raises Unusable if this fails."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with opened(fresh) as connection:
            damaged = catch_up(connection, progress)
            (runs,) = connection.execute("SELECT count(*) FROM run").fetchone()
            (rows,) = connection.execute("SELECT count(*) FROM snap").fetchone()
            # Everything must be in one file: a separate log would keep the old name.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("PRAGMA journal_mode = DELETE")
        with suppress(Unusable), opened(path) as old:
            old.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        # The log of the old file must not be applied to the new file; it is empty unless the old file is damaged.
        for end in ("-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)
        fresh.replace(path)
        size = path.stat().st_size
    except OSError as error:
        raise Unusable(f"cannot replace the index {path} by the new one: {error.strerror}") from None
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            fresh.with_name(fresh.name + end).unlink(missing_ok=True)
    return Rebuilt(path, runs, rows, size, damaged)
