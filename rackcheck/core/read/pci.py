"""Files of /sys/bus/pci/devices that are tables: a function's windows of memory, its counted errors."""

import re

from rackcheck.core.fact import Unreadable, clean
from rackcheck.core.read.values import rows

BARS = 6
"""Windows that a function may have of its own; below them stand its ROM, those of virtual functions, a bridge's."""

IS_MEMORY, UNSET = 0x200, 0x20000000
"""Bits of the kernel's third column: a window of memory; a window that has a size and no address yet."""


def windows(content: str) -> tuple[tuple[int, int], ...]:
    """Read `resource`: the six BARs' sizes in bytes and the kernel's flags, both 0 where there is none."""
    found = []
    for row in rows(content)[:BARS]:
        match = re.fullmatch(r"0x([0-9a-f]{16}) 0x([0-9a-f]{16}) 0x([0-9a-f]{16})", row)
        start, end, flags = (int(column, 16) for column in match.groups()) if match else (0, -1, 0)
        if match is None or end < start:
            raise Unreadable(f"not a window: {clean(row, 80)!r}")
        found.append((end - start + 1 if flags else 0, flags))
    if len(found) != BARS:
        raise Unreadable(f"{len(found)} windows instead of {BARS}")
    return tuple(found)


def counters(content: str) -> dict[str, int]:
    """Read `aer_dev_fatal` and its kin: an error's name and how often it came, and at last the kernel's own sum."""
    found: dict[str, int] = {}
    for row in rows(content):
        match = re.fullmatch(r"([A-Za-z]\w{0,40}) ([0-9]{1,20})", row)
        if match is None:
            raise Unreadable(f"not an error and its count: {clean(row, 80)!r}")
        found[match[1]] = int(match[2])
    if not any(name.startswith("TOTAL_") for name in found):
        raise Unreadable("no sum: the table was cut")
    return found


def total(content: str) -> int:
    """Give the kernel's sum."""
    return next(count for name, count in counters(content).items() if name.startswith("TOTAL_"))


def seen(content: str) -> tuple[str, ...]:
    """Name the errors that came."""
    return tuple(name for name, count in counters(content).items() if count and not name.startswith("TOTAL_"))
