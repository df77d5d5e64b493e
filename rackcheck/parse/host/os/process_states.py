"""Processes grouped by their state, as the node's awk prints them from `/proc/PID/stat` (proc_pid_stat(5)).

    hangs python3
    state D 1 4634297
    state S 57 24
    up 46346
    -- end --

A row `state` has the state's letter, the number of processes in it, and the start of the oldest in ticks since boot. A
row `hangs` names one process in state D. The row `up` has the time since boot, in seconds.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rackcheck.model.fact import Reason, Unreadable
from rackcheck.model.text.values import rows

END = "-- end --"
"""Last line of a complete output about process states."""

TICKS = 100
"""Ticks per second in the kernel's process times on x86 and ARM (USER_HZ in include/asm-generic/param.h)."""


@dataclass(frozen=True, slots=True)
class States:
    """The number of processes in each state, the oldest one's age in seconds, and the names of processes in state D."""

    counts: Mapping[str, int]
    ages: Mapping[str, float]
    hanging: tuple[str, ...]


def states(answer: str, most: int) -> States:
    """Read the output; raises Unreadable if it is incomplete, or names no process, or more than `most` in state D."""
    items = rows(answer)
    up = re.fullmatch("up ([0-9]{1,12})", items[-2]) if len(items) > 1 and items[-1] == END else None
    if up is None:
        raise Unreadable("the output was truncated")
    counts: Counter[str] = Counter()
    ages: dict[str, float] = {}
    names: set[str] = set()
    for row in items[:-2]:
        match = re.fullmatch(r"state ([A-Za-z]) ([0-9]{1,9}) ([0-9]{1,15})", row)
        if match is not None:
            counts[match[1]] += int(match[2])
            ages[match[1]] = max(0, int(up[1]) * TICKS - int(match[3])) / TICKS
        elif row.startswith("hangs ") and len(names) < most:
            names.add(row.removeprefix("hangs ")[:80])
        else:
            raise Unreadable(f"neither a state nor a name: {row[:80]!r}")
    if not counts:
        raise Unreadable("no process is listed", Reason.NOT_COLLECTED)
    return States(counts, ages, tuple(sorted(names)))
