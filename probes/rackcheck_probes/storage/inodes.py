"""Inodes of the local filesystems, and their share in use."""

from rackcheck import Absent, Class, Facts, Shell, integer, probe, quantity, read, spell_key
from rackcheck.parse.host.storage import df
from rackcheck_probes.storage.space import OF


@probe(
    Shell(f"df -Pil{OF}", ok=(0, 1), lane="disks"),
    gives={
        "mount/*.inodes.total": integer(
            "Files that the local filesystem can hold; absent without a limit.", Class.MEASUREMENT
        ),
        "mount/*.inodes.used_share": quantity("%", "Share of the inodes in use.", Class.MEASUREMENT),
    },
)
def inodes(answer: str) -> Facts:
    """Read df's table of inodes."""
    for row in df.filesystems(answer):
        item = f"mount/{spell_key(row.point)}"
        limitless = Absent("no fixed number of inodes")
        yield f"{item}.inodes.total", limitless if row.size in {"0", "-"} else read.whole(row.size)
        yield f"{item}.inodes.used_share", df.counted(row.share)
