"""How full the local filesystems are."""

import re
from collections.abc import Iterator

from rackcheck import Absent, Class, Facts, Shell, Unreadable, integer, probe, quantity, spell_key
from rackcheck.core import read
from rackcheck.core.fact import Reading

ROW = re.compile(
    r"(?P<source>.+?)\s+(?P<size>\d+|-)\s+(?P<used>\d+|-)\s+(?P<free>-?\d+|-)\s+(?P<share>\d+%|-)\s+(?P<point>/.*)"
)


def filesystems(answer: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Part df's table into items; `-` stands where a filesystem does not count."""
    rows = read.rows(answer)
    if not rows or not rows[0].startswith("Filesystem"):
        raise Unreadable("not the table of df")
    for row in rows[1:]:
        match = ROW.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a filesystem: {row[:80]!r}")
        if not match["point"].startswith("/run/user/"):  # every login mounts one, ours too
            yield f"mount/{spell_key(match['point'])}", match


def counted(number: str, unit: int = 1) -> Reading:
    """Read one cell of df."""
    return Absent("the filesystem does not count it") if number == "-" else read.whole(number.rstrip("%")) / unit


LOCAL = (
    "bcachefs btrfs devtmpfs erofs exfat ext2 ext3 ext4 f2fs hfsplus iso9660 jfs ntfs3 overlay reiserfs squashfs tmpfs"
    " udf vfat xfs zfs"
)
"""Types that no server and no program of users answers for: these alone are asked, as a dead server would hold the
question up. By `-l` df knows only some of the network's types, and of others only those with a colon in their source
(ME_REMOTE in gnulib's lib/mountlist.c)."""
OF = "".join(f" -t {kind}" for kind in LOCAL.split())


# df says 1 when it may not look into some mount, and lists the others.
@probe(
    Shell(f"df -Pkl{OF}", ok=(0, 1), lane="disks"),
    gives={
        "mount/*.size": quantity("GiB", "The local filesystem's size."),
        "mount/*.free": quantity("GiB", "Space that ordinary users can still fill.", Class.MEASUREMENT),
        "mount/*.used_share": quantity(
            "%", "Share of the space in use, without what is kept for root.", Class.MEASUREMENT
        ),
    },
)
def space(answer: str) -> Facts:
    """Read df's table in KiB."""
    for item, row in filesystems(answer):
        yield f"{item}.size", counted(row["size"], 1 << 20)
        yield f"{item}.free", counted(row["free"], 1 << 20)
        yield f"{item}.used_share", counted(row["share"])


@probe(
    Shell(f"df -Pil{OF}", ok=(0, 1), lane="disks"),
    gives={
        "mount/*.inodes.total": integer(
            "Files that the local filesystem can hold; absent if it has no such limit.", Class.MEASUREMENT
        ),
        "mount/*.inodes.used_share": quantity("%", "Share of the inodes in use.", Class.MEASUREMENT),
    },
)
def inodes(answer: str) -> Facts:
    """Read df's table of inodes."""
    for item, row in filesystems(answer):
        limitless = Absent("no fixed number of inodes")
        yield f"{item}.inodes.total", limitless if row["size"] in {"0", "-"} else read.whole(row["size"])
        yield f"{item}.inodes.used_share", counted(row["share"])
