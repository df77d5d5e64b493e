"""Message interrupts by PCI function: rows `device ADDRESS CPUS-NEAR` and, below each, `NUMBER CPUS-SERVING`.

A `?` stands for a file that could not be read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.parse.host.cpu.cpu_ranges import Ranges, ranges, within

HIDDEN = "?"

_DEVICE = re.compile(r"device ([0-9a-f:.]{1,20}) (\?|[0-9,-]{0,4000})")
_VECTOR = re.compile(r"[0-9]{1,6} (\?|[0-9,-]{0,4000})")


@dataclass(frozen=True)
class Device:
    """A function's address, the CPUs near it, and for each of its vectors those that serve it; None is not known."""

    address: str
    near: Ranges | None
    vectors: list[Ranges | None] = field(default_factory=list)

    def remote(self) -> Reading:
        """Count the vectors that a CPU serves which is not near; one that no CPU serves is not counted.

        Unknown where a list could not be read, absent where no CPU is near.
        """
        if self.near is None:
            return Unknown(Reason.NOT_COLLECTED, "local_cpulist could not be read")
        if not self.near:
            return Absent("near no CPU")
        if None in self.vectors:
            hidden = f"{self.vectors.count(None)} of {len(self.vectors)} vectors do not tell their CPU"
            return Unknown(Reason.NOT_COLLECTED, hidden)
        return sum(not within(served, self.near) for served in self.vectors if served is not None)


def devices(rows: Sequence[str]) -> Iterator[Device]:
    """Give each function with all of its vectors; raises Unreadable at a row that is neither."""
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


def _cpus(told: str) -> Ranges | None:
    return None if told == HIDDEN else ranges(told)
