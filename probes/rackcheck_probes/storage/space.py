"""How full the local filesystems are."""

from rackcheck import Class, Facts, Shell, probe, quantity, spell_key
from rackcheck.parse.host.storage import df

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
    for row in df.filesystems(answer):
        item = f"mount/{spell_key(row.point)}"
        yield f"{item}.size", df.counted(row.size, 1 << 20)
        yield f"{item}.free", df.counted(row.free, 1 << 20)
        yield f"{item}.used_share", df.counted(row.share)
