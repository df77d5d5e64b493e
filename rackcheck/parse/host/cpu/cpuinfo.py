"""Fields of /proc/cpuinfo, counted over all CPUs: for each value of a field, how many CPUs report it."""

from collections.abc import Mapping
from dataclasses import dataclass

from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import number, rows

Counted = Mapping[str, Mapping[str, int]]
"""The number of CPUs that report a value, by the field's name and then by value."""

_ROW = regex(r" *([0-9]{1,6}) ([^:]{1,40}?)\s*: ?(.*)")


@dataclass(frozen=True)
class Clocks:
    """The lowest, the mean and the highest clock rate of the CPUs in MHz; the mean is None if no CPU was counted."""

    least: float
    mean: float | None
    most: float


def counted(answer: str) -> Counted:
    """Read the sorted lines of /proc/cpuinfo, as `uniq -c` counts them.

    Raises Unreadable if the last line is not `end`, or if no CPU is listed.
    """
    table = rows(answer)
    if not table or table[-1] != "end":
        raise Unreadable("incomplete counts of /proc/cpuinfo")
    found: dict[str, dict[str, int]] = {}
    for row in table[:-1]:
        match = _ROW.fullmatch(row)
        if match is not None:
            found.setdefault(match[2], {})[match[3].strip()] = int(match[1])
    if "processor" not in found and "Processor" not in found:
        raise Unreadable("no processor in /proc/cpuinfo")
    return found


def only(table: Counted, key: str) -> str | None:
    """Return the value that all CPUs report in a field; None if no CPU reports it.

    Raises Unreadable if the CPUs report different values.
    """
    items = list(table.get(key, ()))
    if len(items) > 1:
        raise Unreadable(f"CPUs differ in {key}: {', '.join(sorted(items)[:8])}")
    return items[0] if items else None


def flags(table: Counted) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the flags that all CPUs have, and the flags that only some have; None if the kernel shows no flags."""
    sets = [frozenset(text.split()) for key in ("flags", "Features") for text in table.get(key, ())]
    if not sets:
        return None
    common = sets[0].intersection(*sets)
    return common, sets[0].union(*sets) - common


def clocks(table: Counted) -> Clocks | None:
    """Return the CPUs' current clock rates; None if the kernel reports none; raises Unreadable on an invalid rate."""
    found = {number(clock): count for clock, count in table.get("cpu MHz", {}).items()}
    total = sum(found.values())
    mean = sum(clock * count for clock, count in found.items()) / total if total else None
    return Clocks(min(found), mean, max(found)) if found else None
