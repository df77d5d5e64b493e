"""How much memory the node has, and how much is available."""

from collections.abc import Iterator

from rackcheck import Class, Facts, Files, Read, integer, probe, quantity
from rackcheck.model.fact import Absent, Reading, Unreadable
from rackcheck.model.text.values import key_values, kib, rows, whole

PLACE = "/proc/meminfo"


@probe(
    Read(PLACE),
    gives={
        "memory.total": quantity("GiB", "Memory that the kernel has: the DIMMs' memory minus what firmware reserves."),
        "memory.available": quantity("GiB", "Memory that programs can still get without swapping.", Class.MEASUREMENT),
        "memory.swap.total": quantity("GiB", "Swap space."),
        "memory.swap.used": quantity("GiB", "Swap space in use.", Class.MEASUREMENT),
        "memory.hugepages.total": integer("Huge pages of the default size that are reserved."),
        "memory.hugepages.reserved": quantity(
            "GiB", "Memory that huge pages reserve, of all sizes if the kernel reports them."
        ),
        "memory.hugepages.size": quantity("KiB", "The default size of huge pages."),
        "memory.corrupted": quantity(
            "KiB", "Memory that the kernel took out of use because it was broken.", Class.COUNTER
        ),
    },
)
def memory(files: Files) -> Facts:
    """Read /proc/meminfo; the fact of a line is absent if this kernel lacks the line, unknown if it may be cut off."""
    for leaf, reading in sizes(files.text(PLACE)):
        yield f"memory.{leaf}", reading


# /proc/meminfo: sizes in kB, which are KiB, and counts of huge pages; see proc_meminfo(5).


_MIB = 1 << 20
_SIZES = {
    "total": ("MemTotal", _MIB),
    "available": ("MemAvailable", _MIB),
    "swap.total": ("SwapTotal", _MIB),
    "hugepages.size": ("Hugepagesize", 1),
    "corrupted": ("HardwareCorrupted", 1),
}
"""Maps each fact to its line in /proc/meminfo, and to the divisor that converts KiB to the fact's unit."""


def sizes(content: str) -> Iterator[tuple[str, Reading]]:
    """Yield sizes (in GiB; huge page size and corrupted memory in KiB), and the number of huge pages.

    A size is absent if this kernel lacks its line, and is left out if its line may have been cut off with the end of
    the file. Raises Unreadable on a file without MemTotal, on a size that is not a number, and, after yielding all
    sizes, on an invalid number of huge pages.
    """
    values = key_values("\n".join(rows(content)))
    if "MemTotal" not in values:
        raise Unreadable("no MemTotal in /proc/meminfo")
    found = {key: kib(value) for key, value in values.items() if value.endswith(" kB")}
    for leaf, (key, unit) in _SIZES.items():
        if key in found:
            yield leaf, found[key] / unit
    # Missing in this kernel, or cut off? A line that the kernel prints later decides.
    if "HardwareCorrupted" not in values and values.keys() & {"HugePages_Total", "DirectMap4k"}:
        yield "corrupted", Absent("this kernel does not handle memory failures")
    if "MemAvailable" not in values and "Buffers" in values:
        yield "available", Absent("kernels before 3.14 do not report this value")
    if {"SwapTotal", "SwapFree"} <= found.keys():
        yield "swap.used", (found["SwapTotal"] - found["SwapFree"]) / _MIB
    if "HugePages_Total" in values:
        total = whole(values["HugePages_Total"])
        yield "hugepages.total", total
        # Hugetlb also counts the other sizes; kernels before 4.19 have no such line.
        reserved = max(found.get("Hugetlb", 0), total * found.get("Hugepagesize", 0))
        yield "hugepages.reserved", reserved / _MIB
