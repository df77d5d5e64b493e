"""Which CPUs and how much memory each NUMA node has."""

import re

from rackcheck import Absent, Facts, Files, Read, Sourced, Unreadable, collection, probe, quantity, read, text

CPUS, MEMORY = (f"/sys/devices/system/node/node*/{name}" for name in ("cpulist", "meminfo"))


def total(content: str) -> float:
    """Return in GiB the memory in a line such as `Node 0 MemTotal: 134182340 kB`."""
    match = re.search(r"^Node \d+ MemTotal:\s+(\d+ kB)$", content, re.MULTILINE)
    if match is None:
        raise Unreadable("no MemTotal")
    return read.kib(match[1]) / (1 << 20)


@probe(
    Read(CPUS, MEMORY),
    gives={
        "numa.node": collection("NUMA nodes by number; on Grace, GPU memory forms nodes too."),
        "numa.node/*.cpus": text("The node's online CPUs, as ranges: 0-15,32-47; absent if the node has only memory."),
        "numa.node/*.memory": quantity("GiB", "The node's memory."),
    },
)
def numa(files: Files) -> Facts:
    """Read each NUMA node's CPUs and memory."""
    for number in sorted(
        {n for glob in (CPUS, MEMORY) for (n,) in files.found(glob) if re.fullmatch("[0-9]+", n)}, key=read.natural
    ):
        place = CPUS.replace("*", number)
        empty = files.has(place) and not files.contents.get(place, "refused").strip()
        yield (
            f"numa.node/{number}.cpus",
            Sourced(Absent("the node has only memory"), place) if empty else files.read(place),
        )
        yield f"numa.node/{number}.memory", files.read(MEMORY.replace("*", number), total)
