"""Readers of files in /sys/bus/pci/devices, one reader for each file: link, driver, ids, BARs, error counts."""

import re
from collections.abc import Mapping

from rackcheck.model.fact import Absent, Reading, Sourced, Unknown, Unreadable, clean
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import key_values, line, rows, whole

BARS = 6
"""Number of a function's own BARs; the windows of its ROM, of virtual functions or of a bridge follow them."""

IS_MEMORY, UNSET = 0x200, 0x20000000
"""Bits in the third column of the `resource` file: the window is memory; the window has a size but no address yet."""


NO_LINK = {"0", "255"}
"""Widths that the kernel writes for a missing link, and for a device without a link register."""


def numa(files: Files, folder: str) -> Sourced:
    """Return the NUMA node of the device in this folder; absent if it is -1, that is, if the firmware names no node."""
    node = files.read(f"{folder}/numa_node", whole)
    return Sourced(Absent("the firmware assigns no NUMA node"), node.source) if node.reading == -1 else node


def gigatransfers(content: str) -> float:
    """Read `16.0 GT/s PCIe`, or `8 GT/s` of older kernels, in GT/s."""
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9])?) GT/s(?: PCIe)?", line(content))
    if match is None:
        raise Unreadable(f"not a link speed: {content.strip()[:80]!r}")
    return float(match[1])


def lanes(content: str) -> int:
    """Return a link width; raises Unreadable if no link can have it, such as 63 (all ones) from a lost device."""
    width = whole(content)
    if width not in {1, 2, 4, 8, 12, 16, 32}:
        raise Unreadable(f"not a link width: {width}")
    return width


def code(content: str) -> str:
    """Return an id such as `0x10de` as the kernel writes it; raises Unreadable on any other text."""
    if not re.fullmatch(r"0x[0-9a-f]{2,4}", line(content)):
        raise Unreadable(f"not a code: {clean(content, 40)!r}")
    return line(content)


def driver(content: str) -> str:
    """Return the driver in a function's `uevent`; empty if it has no driver.

    Raises Unreadable if the function's address is missing, as in a truncated file.
    """
    table = key_values("\n".join(rows(content)), separator="=")
    if "PCI_SLOT_NAME" not in table:
        raise Unreadable("no PCI_SLOT_NAME")
    return table.get("DRIVER", "")


def windows(content: str) -> tuple[tuple[int, int], ...]:
    """Return the size in bytes and the kernel's flags of the six BARs in `resource`; both are 0 for a missing BAR."""
    found = []
    for row in rows(content)[:BARS]:
        match = re.fullmatch(r"0x([0-9a-f]{16}) 0x([0-9a-f]{16}) 0x([0-9a-f]{16})", row)
        start, end, flags = (int(column, 16) for column in match.groups()) if match else (0, -1, 0)
        if match is None or end < start:
            raise Unreadable(f"not a window: {clean(row, 80)!r}")
        found.append((end - start + 1 if flags else 0, flags))
    if len(found) != BARS:
        raise Unreadable(f"{len(found)} address windows instead of {BARS}")
    return tuple(found)


def counters(content: str) -> dict[str, int]:
    """Return the counts in `aer_dev_fatal` and similar files by name: one for each error, and the kernel's own sum."""
    found: dict[str, int] = {}
    for row in rows(content):
        match = re.fullmatch(r"([A-Za-z]\w{0,40}) ([0-9]{1,20})", row)
        if match is None:
            raise Unreadable(f"not an error and its count: {clean(row, 80)!r}")
        found[match[1]] = int(match[2])
    if not any(name.startswith("TOTAL_") for name in found):
        raise Unreadable("no TOTAL_ row: the table is incomplete")
    return found


def total(content: str) -> int:
    """Return the kernel's own sum of the errors in `aer_dev_fatal` or a similar file."""
    return next(count for name, count in counters(content).items() if name.startswith("TOTAL_"))


def seen(content: str) -> tuple[str, ...]:
    """Return the names of the errors that occurred, from `aer_dev_fatal` or a similar file."""
    return tuple(name for name, count in counters(content).items() if count and not name.startswith("TOTAL_"))


def together(values: Mapping[str, Reading]) -> Reading:
    """Return all errors that occurred, each with its kind; unknown if one kind is unknown, absent if one is absent."""
    for odd in (Unknown, Absent):
        found = next((reading for reading in values.values() if isinstance(reading, odd)), None)
        if found is not None:
            return found
    return tuple(f"{kind} {name}" for kind, names in values.items() if isinstance(names, tuple) for name in names)
