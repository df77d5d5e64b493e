"""How much of the free memory lies in large pieces."""

import re

from rackcheck import Class, Facts, Files, Read, Unreadable, probe, quantity
from rackcheck.core import read

PLACE = "/proc/buddyinfo"


@probe(
    Read(PLACE),
    gives={
        "numa.node/*.unbroken": quantity(
            "%",
            "Share of the node's free memory that lies in pieces of the largest size, 4 MiB with pages of 4 KiB.",
            Class.MEASUREMENT,
        ),
        "memory.unbroken": quantity(
            "%",
            "Share of all free memory that lies in pieces of the largest size, 4 MiB with pages of 4 KiB.",
            Class.MEASUREMENT,
        ),
    },
)
def buddyinfo(files: Files) -> Facts:
    """Add up each node's free pieces: the column of order n counts pieces of 2^n pages, the last the largest."""
    free: dict[str, list[int]] = {}
    for row in read.rows(files.text(PLACE)):
        match = re.fullmatch(r"Node ([0-9]{1,5}), zone +\w{1,20}((?: +[0-9]{1,15}){2,20}) *", row)
        if match is None:
            raise Unreadable(f"{PLACE}: no zone with its free pieces: {row[:60]!r}")
        pages = [int(count) << order for order, count in enumerate(match[2].split())]
        node = free.setdefault(match[1], [0, 0])
        node[0] += sum(pages)
        node[1] += pages[-1]
    total, large = (sum(node[at] for node in free.values()) for at in (0, 1))
    for number, (of, part) in free.items():
        if of:
            yield f"numa.node/{number}.unbroken", 100 * part / of
    if total:
        yield "memory.unbroken", 100 * large / total
