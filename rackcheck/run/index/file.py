"""The index's file: where it lies, how it is opened, and what its troubles are in words."""

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rackcheck.base.mistake import Mistake
from rackcheck.run import store
from rackcheck.run.index.mounts import mount_of
from rackcheck.run.index.schema import migrate

WAIT = 30.0
"""Seconds that a second writer waits for the first; one run of a rack is added in less than one."""


class Unusable(Mistake):
    """The index cannot be used here and now; runs can still be read from their folders."""


def place() -> Path:
    """Where the index lies: beside the runs, or where RACKCHECK_INDEX says."""
    named = os.environ.get("RACKCHECK_INDEX")
    return Path(named) if named else store.runs_folder().parent / "index.sqlite"


@contextmanager
def opened(path: Path, wait: float = WAIT) -> Iterator[sqlite3.Connection]:
    """Open the index at a path, made and brought up to date where need be; raises Unusable where it cannot be used.

    Every trouble that SQLite has inside the block ends as Unusable too, and what was not committed is gone.
    """
    with told(path, wait):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Unusable(f"cannot make {path.parent} for the index: {error.strerror}") from None
        _local(path)
        connection = sqlite3.connect(path, timeout=wait, isolation_level=None)
        try:
            # What stands in a damaged or foreign file is held against the schema, and never run.
            connection.execute("PRAGMA trusted_schema = OFF")
            try:
                migrate(connection)
            except Mistake as error:
                raise Unusable(f"the index {path} {error}") from None
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            if mode != "wal":
                raise Unusable(f"the index {path} cannot have a write-ahead log here; {_ELSEWHERE}")
            # After a power cut the last runs may be missing: they are read again from their folders.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA cache_size = -65536")
            yield connection
        finally:
            connection.close()


_ELSEWHERE = "name a place on a local disk: RACKCHECK_INDEX=/local/path/index.sqlite"


def _local(path: Path) -> None:
    """Refuse a file system that several machines share: two of them would damage the index."""
    if sys.platform != "linux":
        return
    try:
        text = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    refusal = refused(path, text)
    if refusal:
        raise Unusable(refusal)


def refused(path: Path, mountinfo: str) -> str:
    """Say why the index may not lie at this path, by the text of `/proc/self/mountinfo`; empty where it may."""
    mount = mount_of(str(path.resolve()), mountinfo)
    if mount is None or not mount.network:
        return ""
    return (
        f"the index {path} would lie on {mount.point}, a network file system ({mount.type}), "
        f"where SQLite's write-ahead log does not work; {_ELSEWHERE}"
    )


@contextmanager
def told(path: Path, wait: float = WAIT) -> Iterator[None]:
    """Say SQLite's troubles in words, with the way out."""
    try:
        yield
    except sqlite3.Error as error:
        raise Unusable(f"the index {path} {_said(error, wait)}") from None


def _said(error: sqlite3.Error, wait: float) -> str:
    # The lower byte is the kind, the upper ones say more of it: https://www.sqlite.org/rescode.html
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"is locked: another rackcheck has been writing to it for {wait:g} s; try again when it is done"
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return f"cannot be written: {error}; make room, or {_ELSEWHERE}"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return f"cannot be opened for writing: {error}; {_ELSEWHERE}"
    return f"is damaged: {error}; rackcheck runs rebuild makes it again from the runs"


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction, all of it or nothing; waits for another writer."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
