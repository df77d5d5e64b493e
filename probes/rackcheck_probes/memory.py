"""How much memory there is, and how much is left."""

from rackcheck import Absent, Class, Facts, Files, Read, Unreadable, integer, probe, quantity
from rackcheck.core import read

PLACE = "/proc/meminfo"
MIB = 1 << 20


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
    table = read.key_values("\n".join(read.rows(files.text(PLACE))))
    if "MemTotal" not in table:
        raise Unreadable(f"no MemTotal in {PLACE}")
    kib = {key: read.kib(value) for key, value in table.items() if value.endswith(" kB")}
    for path, key, unit in (
        ("memory.total", "MemTotal", MIB),
        ("memory.available", "MemAvailable", MIB),
        ("memory.swap.total", "SwapTotal", MIB),
        ("memory.hugepages.size", "Hugepagesize", 1),
        ("memory.corrupted", "HardwareCorrupted", 1),
    ):
        if key in kib:
            yield path, kib[key] / unit
    # Left out by the kernel, or cut off? Told by a line that the kernel prints later.
    if "HardwareCorrupted" not in table and table.keys() & {"HugePages_Total", "DirectMap4k"}:
        yield "memory.corrupted", Absent("this kernel does not handle memory failures")
    if "MemAvailable" not in table and "Buffers" in table:
        yield "memory.available", Absent("kernels before 3.14 do not tell")
    if {"SwapTotal", "SwapFree"} <= kib.keys():
        yield "memory.swap.used", (kib["SwapTotal"] - kib["SwapFree"]) / MIB
    if "HugePages_Total" in table:
        yield "memory.hugepages.total", read.whole(table["HugePages_Total"])
