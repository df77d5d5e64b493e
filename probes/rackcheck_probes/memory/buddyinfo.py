"""How much of the free memory is in large pieces."""

from rackcheck import Class, Facts, Files, Read, probe, quantity
from rackcheck.parse.host.memory import buddyinfo as zones

PLACE = "/proc/buddyinfo"


@probe(
    Read(PLACE),
    gives={
        "numa.node/*.unbroken": quantity(
            "%",
            "Share of the node's free memory that is in pieces of the largest size, 4 MiB with pages of 4 KiB.",
            Class.MEASUREMENT,
        ),
        "memory.unbroken": quantity(
            "%",
            "Share of all free memory that is in pieces of the largest size, 4 MiB with pages of 4 KiB.",
            Class.MEASUREMENT,
        ),
    },
)
def buddyinfo(files: Files) -> Facts:
    """Yield the share of free memory in large pieces, per NUMA node and in total; unknown if no memory is free."""
    nodes = zones.nodes(files.text(PLACE))
    for number, free in nodes.items():
        if (share := free.unbroken()) is not None:
            yield f"numa.node/{number}.unbroken", share
    if (share := zones.together(nodes.values()).unbroken()) is not None:
        yield "memory.unbroken", share
