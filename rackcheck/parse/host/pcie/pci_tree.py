"""`ls -l /sys/bus/pci/devices`: links of sysfs, whose targets name every device above a PCI function.

Rows have this form, after one row with the `total` of blocks:

    lrwxrwxrwx 1 root root 0 Jan  1 00:00 0000:01:00.0 -> ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rackcheck.model.fact import Unreadable, clean
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows

_ADDRESS = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_LINK = regex(rf"l\S{{9,12}} .*? ({_ADDRESS}) -> (\S{{1,900}})")
_BRIDGE = regex(r"/pci([0-9a-f]{4,8}:[0-9a-f]{2})/")


@dataclass(frozen=True)
class BridgePath:
    """Where a PCI function is attached: its host bridge (domain and bus) and the ports above it, the topmost first.

    A PCI function on a root bus has no ports above it.
    """

    address: str
    bridge: str
    ports: tuple[str, ...]


def places(answer: str) -> Iterator[BridgePath]:
    """Yield the path to each PCI function, row by row; raises Unreadable on a row that is not a PCI function's link."""
    for row in rows(answer):
        if re.fullmatch(r"total [0-9]{1,9}", row):
            continue
        match = _LINK.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a link of a PCI function: {clean(row, 120)!r}")
        bridge, parts = _above(match[2])
        if parts[-1] != match[1]:
            raise Unreadable(f"the link of {match[1]} points to {parts[-1]}")
        yield BridgePath(match[1], bridge, tuple(parts[:-1]))


def _above(target: str) -> tuple[str, list[str]]:
    """Return the last host bridge in a link's target, and the PCI functions below this bridge, the topmost first.

    With Intel's VMD, a host bridge may be below a PCI function, so a target may contain several host bridges.
    """
    bridges = list(_BRIDGE.finditer(target))
    parts = target[bridges[-1].end() :].split("/") if bridges else []
    if not parts or not all(re.fullmatch(_ADDRESS, part) for part in parts):
        raise Unreadable(f"not a path below a host bridge: {clean(target, 120)!r}")
    return bridges[-1][1], parts
