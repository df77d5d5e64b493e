"""How often the kernel ran short of memory."""

from rackcheck import Class, Facts, Files, Read, integer, probe
from rackcheck.parse.host.memory import vmstat as counters

PLACE = "/proc/vmstat"
COUNTS = {
    "oom_kill": "Processes that the kernel killed for lack of memory, since boot.",
    "pswpin": "Pages read back from swap since boot.",
    "pswpout": "Pages written to swap since boot.",
    "numa_miss": "Pages allocated on a NUMA node other than the intended node, since boot.",
    "numa_foreign": "Pages intended for a NUMA node but provided by another, since boot.",
    "compact_stall": "Number of times that a program waited for memory compaction, since boot.",
    "compact_fail": "Number of times since boot that memory compaction failed to free a large enough contiguous block.",
    "thp_fault_fallback": "Page faults that got no huge page, since boot.",
    "numa_pages_migrated": "Pages that NUMA balancing moved, since boot.",
    "drop_pagecache": "Number of times that the page cache was dropped since boot.",
    "allocstall": "Times that a program had to reclaim memory before its allocation succeeded, since boot.",
}


@probe(
    Read(PLACE),
    gives={f"memory.events.{name}": integer(message, Class.COUNTER) for name, message in COUNTS.items()},
)
def vmstat(files: Files) -> Facts:
    """Read the counters by the kernel's names; a counter that this kernel lacks is absent."""
    table = counters.counters(files.text(PLACE))
    for name in COUNTS:
        yield f"memory.events.{name}", counters.count(table, name)
