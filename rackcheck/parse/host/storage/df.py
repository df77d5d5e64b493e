"""The table of `df -P`: filesystems, in blocks of 1024 bytes or, with `-i`, in inodes."""

from collections.abc import Iterator
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows, whole

_ROW = regex(
    r"(?P<source>.+?)\s+(?P<size>\d+|-)\s+(?P<used>\d+|-)\s+(?P<free>-?\d+|-)\s+(?P<share>\d+%|-)\s+(?P<point>/.*)"
)


@dataclass(frozen=True)
class Filesystem:
    """One filesystem: its mount point, and columns of its row as df prints them (`-` if df has no value)."""

    point: str
    size: str
    free: str
    share: str


def filesystems(answer: str) -> Iterator[Filesystem]:
    """Yield the filesystems, except those in /run/user; raises Unreadable on another table, and at an invalid row."""
    table = rows(answer)
    if not table or not table[0].startswith("Filesystem"):
        raise Unreadable("not the table of df")
    for row in table[1:]:
        match = _ROW.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a filesystem: {row[:80]!r}")
        if not match["point"].startswith("/run/user/"):  # every login mounts this, rackcheck's too
            yield Filesystem(match["point"], match["size"], match["free"], match["share"])


def counted(cell: str, unit: int = 1) -> Reading:
    """Return a number or percentage that df prints, divided by `unit`; absent if df prints `-`."""
    return Absent("the filesystem does not report it") if cell == "-" else whole(cell.rstrip("%")) / unit
