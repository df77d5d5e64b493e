"""Opens the SQLite file of the index, and explains errors."""

import os
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.run import store
from rackcheck.run.index.schema import migrate

WAIT = 30.0
"""Seconds that a writer waits for another writer; adding a run of one rack takes less than a second."""


class Unusable(UserError):
    """The index cannot be used now; runs can still be read from their folders."""


def place() -> Path:
    """Return the path of the index: RACKCHECK_INDEX if it is set, else `index.sqlite` beside the folder of runs."""
    named = os.environ.get("RACKCHECK_INDEX")
    return Path(named) if named else store.runs_folder().parent / "index.sqlite"


@contextmanager
def opened(path: Path, wait: float = WAIT) -> Iterator[sqlite3.Connection]:
    """Open the index at a path; creates or migrates the file if needed, and raises Unusable if the file cannot be used.

    Any SQLite error inside the `with` block is raised as Unusable, and uncommitted changes are lost.
    """
    with explained_errors(path, wait):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Unusable(f"cannot make {path.parent} for the index: {error.strerror}") from None
        _local(path)
        connection = sqlite3.connect(path, timeout=wait, isolation_level=None)
        try:
            # With this setting, SQL in the schema of a damaged or foreign file is never executed.
            connection.execute("PRAGMA trusted_schema = OFF")
            try:
                migrate(connection)
            except UserError as error:
                raise Unusable(f"the index {path} {error}") from None
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            if mode != "wal":
                raise Unusable(f"the index {path} cannot have a write-ahead log here; {_ELSEWHERE}")
            # After a power loss the last runs may be missing in the index: they are read again from their folders.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA cache_size = -65536")
            yield connection
        finally:
            connection.close()


_ELSEWHERE = "use a path on a local disk: RACKCHECK_INDEX=/local/path/index.sqlite"


def _local(path: Path) -> None:
    """Raise Unusable if the path is on a network file system; two machines writing to the index would damage it."""
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
    """Return why the index cannot be stored at this path, or an empty text.

    `mountinfo` is the text of `/proc/self/mountinfo`.
    """
    mount = mount_of(str(path.resolve()), mountinfo)
    if mount is None or not mount.network:
        return ""
    return (
        f"the index {path} would be on {mount.point}, a network file system ({mount.type}), "
        f"where SQLite's write-ahead log does not work; {_ELSEWHERE}"
    )


@contextmanager
def explained_errors(path: Path, wait: float = WAIT) -> Iterator[None]:
    """Convert SQLite errors to Unusable; the message explains how to fix the problem."""
    try:
        yield
    except sqlite3.Error as error:
        raise Unusable(f"the index {path} {_sqlite_message(error, wait)}") from None


def _sqlite_message(error: sqlite3.Error, wait: float) -> str:
    # The lower byte is the kind of error, the upper bytes give details: https://www.sqlite.org/rescode.html
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"is locked: another rackcheck has been writing to it for {wait:g} s; try again when it is done"
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return f"cannot be written: {error}; free some space, or {_ELSEWHERE}"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return f"cannot be opened for writing: {error}; {_ELSEWHERE}"
    return f"is damaged: {error}; `rackcheck runs rebuild` builds it again from the runs"


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """Run one transaction, all or nothing; if another process writes to the index, wait for it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


# The file system of a path: SQLite's write-ahead log needs memory that all processes share.
# It is read from `/proc/self/mountinfo` on Linux; on other systems it is unknown, and every path is allowed.

NETWORK = frozenset({
    "9p", "acfs", "afs", "auristorfs", "beegfs", "ceph", "cifs", "coda", "davfs", "davfs2", "fhgfs", "gfs", "gfs2",
    "glusterfs", "gpfs", "ibrix", "lustre", "ncp", "ncpfs", "nfs", "nfs4", "ocfs2", "panfs", "pvfs2", "smb3", "smbfs",
    "snfs", "sshfs", "virtiofs", "vmhgfs", "wekafs",
})  # fmt: skip
"""Types of file systems on which another machine may change files at the same time.

The types are from systemd's `fstype_is_network` (src/basic/mountpoint-util.c), gnulib's `ME_REMOTE` (lib/mountlist.c)
and the types that coreutils' `stat` calls remote (src/stat.c). The file system types 9p, beegfs, davfs2, virtiofs and
wekafs were added without a source. SQLite requires that all processes run on one machine:
https://www.sqlite.org/wal.html.
"""


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted file system: its mount point, type and source."""

    point: str
    type: str
    source: str

    @property
    def network(self) -> bool:
        """Whether the file system may be shared with other machines: a network type, or a source with a server name."""
        kind = self.type.removeprefix("fuse.")
        return kind in NETWORK or re.match(r"//|[^/]+:/", self.source) is not None


def mount_of(path: str, mountinfo: str) -> Mount | None:
    """Return the mount that contains a path, which must be absolute and resolved; None if there is none.

    Of all mounts that contain the path, the one with the longest mount point is returned. If several mounts have the
    same mount point, the last one hides the others, and is returned.
    """
    best: Mount | None = None
    for line in mountinfo.splitlines():
        mount = _mount(line)
        if mount is None or not _below(path, mount.point):
            continue
        if best is None or len(mount.point) >= len(best.point):
            best = mount
    return best


def _mount(line: str) -> Mount | None:
    """Parse a line like `36 35 98:0 /root /point options [tags] - type source options`; None if the line is invalid."""
    head, mark, tail = line.partition(" - ")
    left, right = head.split(" "), tail.split(" ")
    if not mark or len(left) < 6 or len(right) < 2:
        return None
    return Mount(_unescaped(left[4]), right[0], _unescaped(right[1]))


def _unescaped(text: str) -> str:
    """Decode the kernel's octal escapes of blanks, tabs, line feeds and backslashes."""
    return re.sub(r"\\([0-3][0-7]{2})", lambda m: chr(int(m[1], 8)), text)


def _below(path: str, point: str) -> bool:
    return path == point or path.startswith(point.rstrip("/") + "/")
