"""Swap areas, and compressed memory disks (zram)."""

from rackcheck import Class, Facts, Files, Read, listing, probe, quantity, read
from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import rows, whole

SWAPS, SIZE, STAT = "/proc/swaps", "/sys/block/zram*/disksize", "/sys/block/zram*/mm_stat"
GIB = 1 << 30


@probe(
    Read(SWAPS, SIZE, STAT),
    gives={
        "memory.swap.areas": listing("Swap partitions and files in use, by path; a GPU node may have none."),
        "memory.zram.devices": listing("Compressed memory disks that are set up."),
        "memory.zram.size": quantity("GiB", "The capacity of the compressed memory disks."),
        "memory.zram.used": quantity("GiB", "Memory that the compressed memory disks take.", Class.MEASUREMENT),
    },
)
def swap(files: Files) -> Facts:
    """Read the swap areas, and all zram disks with a size, even those that are not used for swap."""
    yield "memory.swap.areas", areas(files.text(SWAPS))
    sizes = {name: read.whole(files.text(SIZE.replace("*", name))) for (name,) in files.found(SIZE)}
    used = {name: zram_used(files.text(STAT.replace("*", name))) for (name,) in files.found(STAT)}
    set_up = [name for name, size in sizes.items() if size]
    yield "memory.zram.devices", tuple(f"zram{name}" for name in set_up)
    yield "memory.zram.size", sum(sizes.values()) / GIB
    yield "memory.zram.used", sum(used.get(name, 0) for name in set_up) / GIB


# /proc/swaps, and the memory that a compressed memory disk takes.


_HEAD = ["Filename", "Type", "Size", "Used", "Priority"]


def areas(content: str) -> tuple[str, ...]:
    """Return the paths of the swap partitions and files in use, with special characters escaped by the kernel.

    Raises Unreadable if the table's header differs from the header of /proc/swaps.
    """
    head, *below = rows(content) or [""]
    if head.split() != _HEAD:
        raise Unreadable(f"unexpected header of /proc/swaps: {head[:60]!r}")
    return tuple(row.split()[0] for row in below if row.split())


def zram_used(mm_stat: str) -> int:
    """Return the bytes of memory that a zram disk takes: the third number in its mm_stat.

    Raises Unreadable if mm_stat has no third number.
    """
    words = mm_stat.split()
    return whole(words[2] if len(words) > 2 else "")
