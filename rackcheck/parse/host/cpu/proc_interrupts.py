"""Rows of /proc/interrupts with a count for each CPU, such as machine checks and threshold interrupts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Unreadable
from rackcheck.model.text.values import rows, whole
from rackcheck.parse.host.cpu import percpu


@dataclass(frozen=True)
class Interrupts:
    """The online CPUs, and for each kind of interrupt the count since boot of each of these CPUs, in the same order."""

    cpus: Sequence[int]
    counts: Mapping[str, Sequence[int]]

    def total(self, kind: str) -> int | Absent:
        """Return the number of interrupts of a kind on all CPUs; absent if /proc/interrupts has no row for the kind."""
        return sum(self.counts[kind]) if kind in self.counts else Absent(f"no {kind} in /proc/interrupts")

    def hit(self, kind: str) -> tuple[str, ...] | Absent:
        """Return ranges of the CPUs that had interrupts of a kind; absent if /proc/interrupts has no such row."""
        if kind not in self.counts:
            return Absent(f"no {kind}")
        return percpu.listed([cpu for cpu, count in zip(self.cpus, self.counts[kind], strict=True) if count])


def interrupts(answer: str) -> Interrupts:
    """Read a heading `CPU0 CPU1`, rows of counts, and a last line `end`.

    Raises Unreadable if the heading, the last line or a CPU's count is missing.
    """
    items = rows(answer)
    if not items or items[-1] != "end" or not items[0].split()[:1] == ["CPU0"]:
        raise Unreadable("incomplete lines from /proc/interrupts")
    cpus = [whole(word.removeprefix("CPU")) for word in items[0].split()]
    counts: dict[str, list[int]] = {}
    for row in items[1:-1]:
        name, *words = row.split() or [""]
        # A row that is shorter than the others lacks the counts of some CPUs.
        if len(words) < len(cpus) or not all(re.fullmatch("[0-9]{1,20}", word) for word in words[: len(cpus)]):
            raise Unreadable(f"not a count for each CPU: {row[:60]!r}")
        counts[name.rstrip(":")] = [int(word) for word in words[: len(cpus)]]
    return Interrupts(cpus, counts)
