"""Lists of CPUs as ranges: whether one holds another is told without counting either out."""

import bisect
import math
import re

from rackcheck.model.fact import Unreadable

Ranges = list[tuple[int, int]]
"""First and last CPU of each range, in order, with a gap between any two."""


def ranges(text: str) -> Ranges:
    """Read the kernel's `0-55,112-167`; ranges that touch are put together, an empty list names none."""
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
    """Whether every CPU of the one list is in the other."""
    for first, last in inner:
        at = bisect.bisect_right(outer, (first, math.inf)) - 1
        if at < 0 or outer[at][1] < last:
            return False
    return True
