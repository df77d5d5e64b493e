"""Interrupt vectors of PCI functions: rows `device ADDRESS CPUS-NEAR` and, below each, `NUMBER CPUS-SERVING`.

A row has `?` instead of a list of CPUs if the kernel's file with this list could not be read.
"""

import bisect
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.model.regex import regex

# Lists of CPUs are kept as ranges, so that no list is expanded to check whether it contains another list.

Ranges = list[tuple[int, int]]
"""A list of CPUs as ranges (first CPU, last CPU), in order; between two ranges, at least one CPU is missing."""


def ranges(text: str) -> Ranges:
    """Read a list of CPUs as the kernel writes it, `0-55,112-167`; adjacent ranges are merged.

    An empty text is a list without CPUs. Raises Unreadable if the text is not a list of CPUs in ascending order.
    """
    found: Ranges = []
    for part in text.split(",") if text else ():
        match = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", part)
        if match is None:
            raise Unreadable(f"not a list of CPUs: {text[:80]!r}")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or (found and first <= found[-1][1]):
            raise Unreadable(f"CPUs out of order: {text[:80]!r}")
        if found and first == found[-1][1] + 1:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def within(inner: Ranges, outer: Ranges) -> bool:
    """Return whether every CPU of `inner` is in `outer`."""
    for first, last in inner:
        at = bisect.bisect_right(outer, (first, math.inf)) - 1
        if at < 0 or outer[at][1] < last:
            return False
    return True


HIDDEN = "?"

_DEVICE = regex(r"device ([0-9a-f:.]{1,20}) (\?|[0-9,-]{0,4000})")
_VECTOR = regex(r"[0-9]{1,6} (\?|[0-9,-]{0,4000})")


@dataclass(frozen=True)
class Device:
    """One PCI function: its address, the CPUs near it, and for each of its vectors the CPUs that serve it.

    The value is None for a list of CPUs that could not be read.
    """

    address: str
    near: Ranges | None
    vectors: list[Ranges | None] = field(default_factory=list)

    def remote(self) -> Reading:
        """Count the vectors that are served by at least one CPU that is not near the PCI function.

        The count is unknown if one of the lists of CPUs could not be read, and absent if no CPU is near the PCI
        function.
        """
        if self.near is None:
            return Unknown(Reason.NOT_COLLECTED, "local_cpulist could not be read")
        if not self.near:
            return Absent("no CPU is near the device")
        if None in self.vectors:
            hidden = (
                f"for {self.vectors.count(None)} of {len(self.vectors)} vectors, the list of CPUs could not be read"
            )
            return Unknown(Reason.NOT_COLLECTED, hidden)
        return sum(not within(served, self.near) for served in self.vectors if served is not None)


def devices(rows: Sequence[str]) -> Iterator[Device]:
    """Yield each PCI function with its vectors; raises Unreadable at a row that is neither a function nor a vector."""
    seen: Device | None = None
    for row in rows:
        head, vector = _DEVICE.fullmatch(row), _VECTOR.fullmatch(row)
        if head is not None:
            if seen is not None:
                yield seen
            seen = Device(head[1], _cpus(head[2]))
        elif vector is not None and seen is not None:
            seen.vectors.append(_cpus(vector[1]))
        else:
            raise Unreadable(f"neither a device nor a vector: {row[:80]!r}")
    if seen is not None:
        yield seen


def _cpus(text: str) -> Ranges | None:
    return None if text == HIDDEN else ranges(text)
