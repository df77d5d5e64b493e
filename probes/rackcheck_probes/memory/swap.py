"""What memory is swapped to."""

from rackcheck import Class, Facts, Files, Read, listing, probe, quantity
from rackcheck.model import text as read
from rackcheck.parse.host.memory import proc_swaps

SWAPS, SIZE, STAT = "/proc/swaps", "/sys/block/zram*/disksize", "/sys/block/zram*/mm_stat"
GIB = 1 << 30


@probe(
    Read(SWAPS, SIZE, STAT),
    gives={
        "memory.swap.areas": listing("Swap partitions and files in use, by their path; none is well on a GPU node."),
        "memory.zram.devices": listing("Compressed memory disks that are set up."),
        "memory.zram.size": quantity("GiB", "What such disks could hold."),
        "memory.zram.used": quantity("GiB", "Memory that such disks take.", Class.MEASUREMENT),
    },
)
def swap(files: Files) -> Facts:
    """Read the swap areas, and the compressed memory disks whether they are swapped to or not."""
    yield "memory.swap.areas", proc_swaps.areas(files.text(SWAPS))
    sizes = {name: read.whole(files.text(SIZE.replace("*", name))) for (name,) in files.found(SIZE)}
    used = {name: proc_swaps.zram_used(files.text(STAT.replace("*", name))) for (name,) in files.found(STAT)}
    set_up = [name for name, size in sizes.items() if size]
    yield "memory.zram.devices", tuple(f"zram{name}" for name in set_up)
    yield "memory.zram.size", sum(sizes.values()) / GIB
    yield "memory.zram.used", sum(used.get(name, 0) for name in set_up) / GIB
