"""Space of the local filesystems, and its share in use."""

from rackcheck import Class, Facts, Shell, probe, quantity, spell_key
from rackcheck.parse.host.storage import df

LOCAL = (
    "bcachefs btrfs devtmpfs erofs exfat ext2 ext3 ext4 f2fs hfsplus iso9660 jfs ntfs3 overlay reiserfs squashfs tmpfs"
    " udf vfat xfs zfs"
)
"""Types of filesystem without a server or user program; other types are not queried: a dead server blocks a query.

The option `-l` of df is not enough: df recognises some types of network filesystem by name, and all others only if
their source contains a colon (ME_REMOTE in gnulib's lib/mountlist.c).
"""
OF = "".join(f" -t {kind}" for kind in LOCAL.split())


# df exits with 1 when it may not access some mount, and lists the others.
@probe(
    Shell(f"df -Pkl{OF}", ok=(0, 1), lane="disks"),
    gives={
        "mount/*.size": quantity("GiB", "The local filesystem's size."),
        "mount/*.free": quantity("GiB", "Space that is available to ordinary users.", Class.MEASUREMENT),
        "mount/*.used_share": quantity(
            "%", "Share of the space in use, without the part reserved for root.", Class.MEASUREMENT
        ),
    },
)
def space(answer: str) -> Facts:
    """Read df's table in KiB."""
    for row in df.filesystems(answer):
        item = f"mount/{spell_key(row.point)}"
        yield f"{item}.size", df.counted(row.size, 1 << 20)
        yield f"{item}.free", df.counted(row.free, 1 << 20)
        yield f"{item}.used_share", df.counted(row.share)
