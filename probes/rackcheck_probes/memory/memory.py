"""How much memory there is, and how much is left."""

from rackcheck import Class, Facts, Files, Read, integer, probe, quantity
from rackcheck.parse.host.memory import meminfo

PLACE = "/proc/meminfo"


@probe(
    Read(PLACE),
    gives={
        "memory.total": quantity(
            "GiB", "Memory that the kernel has, which is less than the DIMMs by what firmware keeps."
        ),
        "memory.available": quantity("GiB", "Memory that programs can still get without swapping.", Class.MEASUREMENT),
        "memory.swap.total": quantity("GiB", "Swap space."),
        "memory.swap.used": quantity("GiB", "Swap space in use.", Class.MEASUREMENT),
        "memory.hugepages.total": integer("Huge pages of the default size that are set aside."),
        "memory.hugepages.size": quantity("KiB", "The default huge page's size."),
        "memory.corrupted": quantity(
            "KiB", "Memory that the kernel took out of use because it was broken.", Class.COUNTER
        ),
    },
)
def memory(files: Files) -> Facts:
    """Read meminfo; absent is what this kernel leaves out, unknown what a cut answer may have held."""
    for leaf, reading in meminfo.sizes(files.text(PLACE)):
        yield f"memory.{leaf}", reading
