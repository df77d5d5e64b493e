"""Readers of files in /sys/bus/pci/devices, one reader for each file: link, driver, ids, BARs, error counts."""

import re
from collections.abc import Mapping

from rackcheck.model.fact import Absent, Reading, Sourced, Unknown, Unreadable, clean
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import key_values, line, rows, whole

BARS = 6
"""Number of a PCI function's own BARs; in `resource`, the windows of its ROM, virtual functions or bridge follow."""

IS_MEMORY, UNSET = 0x200, 0x20000000
"""Flags of a window in the file `resource`: the window is memory; the window has a size but no address yet."""


NO_LINK = {"0", "255"}
"""Widths that the kernel writes for a missing link, and for a device without a link register."""


def numa(files: Files, folder: str) -> Sourced:
    """Return the NUMA node of the device in `folder`; absent if the file has -1, that is, if firmware names no node."""
    node = files.read(f"{folder}/numa_node", whole)
    return Sourced(Absent("the firmware assigns no NUMA node"), node.source) if node.reading == -1 else node


def gigatransfers(content: str) -> float:
    """Read a link speed in GT/s from `16.0 GT/s PCIe`, or from `8 GT/s` of older kernels."""
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9])?) GT/s(?: PCIe)?", line(content))
    if match is None:
        raise Unreadable(f"not a link speed: {content.strip()[:80]!r}")
    return float(match[1])


def lanes(content: str) -> int:
    """Return a link width; raises Unreadable on a width that no link can have, such as 63 from a lost device."""
    width = whole(content)
    if width not in {1, 2, 4, 8, 12, 16, 32}:
        raise Unreadable(f"not a link width: {width}")
    return width


def code(content: str) -> str:
    """Return a PCI id, such as `0x10de`, as the kernel writes it; raises Unreadable on any other text."""
    if not re.fullmatch(r"0x[0-9a-f]{2,4}", line(content)):
        raise Unreadable(f"not a code: {clean(content, 40)!r}")
    return line(content)


def driver(content: str) -> str:
    """Return the driver's name in a PCI function's file `uevent`; empty if the function has no driver.

    Raises Unreadable if the PCI function's address is missing, as in a truncated file.
    """
    table = key_values("\n".join(rows(content)), separator="=")
    if "PCI_SLOT_NAME" not in table:
        raise Unreadable("no PCI_SLOT_NAME")
    return table.get("DRIVER", "")


def windows(content: str) -> tuple[tuple[int, int], ...]:
    """Return each BAR's size in bytes and flags from the file `resource`; size and flags are 0 for a missing BAR."""
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
    """Return the names of the errors with a count above 0 in `aer_dev_fatal` or a similar file."""
    return tuple(name for name, count in counters(content).items() if count and not name.startswith("TOTAL_"))


def together(values: Mapping[str, Reading]) -> Reading:
    """Return the errors of all kinds, each as `KIND NAME`; unknown or absent if those of one kind are."""
    for odd in (Unknown, Absent):
        found = next((reading for reading in values.values() if isinstance(reading, odd)), None)
        if found is not None:
            return found
    return tuple(f"{kind} {name}" for kind, names in values.items() if isinstance(names, tuple) for name in names)
