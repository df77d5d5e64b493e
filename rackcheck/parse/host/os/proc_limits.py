"""/proc/PID/limits: a process's soft and hard limits by the kernel's names; see proc_pid_limits(5)."""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows, whole

SIDES = ("soft", "hard")

_ROW = regex(r"Max (?P<name>[a-z ]+?)\s{2,}(?P<soft>\w+)\s+(?P<hard>\w+)\s+(?P<unit>bytes|processes|files)?\s*")


@dataclass(frozen=True)
class Limit:
    """The soft or the hard value of one limit: infinity means no limit, and a limit in bytes is converted to KiB."""

    name: str
    side: str
    value: float


def limits(content: str, names: Collection[str]) -> Iterator[Limit]:
    """Yield the soft and the hard value of each limit in `names`.

    Leaves out the heading of /proc/PID/limits, and the rows of all other limits. At an invalid value, raises Unreadable
    after yielding the limits before it.
    """
    for row in rows(content)[1:]:
        match = _ROW.fullmatch(row)
        if match is None or match["name"] not in names:
            continue
        for side in SIDES:
            value = math.inf if match[side] == "unlimited" else whole(match[side])
            yield Limit(match["name"], side, value / 1024 if match["unit"] == "bytes" else value)
