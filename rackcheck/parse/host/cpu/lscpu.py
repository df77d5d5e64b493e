"""lscpu's table, flat (older) or indented (newer): `Model name: AMD EPYC 7742 64-Core Processor`; `-` means unknown."""

from collections.abc import Mapping

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.model.text.values import key_values, rows, whole

LscpuTable = Mapping[str, str]
"""The values of the table, by lscpu's names."""


def table(answer: str) -> LscpuTable:
    """Read the whole table; raises Unreadable if it has no CPU(s), or ends before the caches."""
    found = key_values("\n".join(rows(answer)))
    if "CPU(s)" not in found or not any(key.startswith(("NUMA node0", "L1d")) for key in found):
        raise Unreadable("incomplete output of lscpu: no CPU(s), or the answer ends before the caches")
    return found


def count(values: LscpuTable, key: str) -> int | Unknown | None:
    """Read a number; None if the table has no such line, Unknown for a dash. Raises Unreadable on any other word."""
    if key not in values:
        return None
    return Unknown(Reason.NOT_COLLECTED, f"lscpu: {key}: -") if values[key] == "-" else whole(values[key])


def cores(values: LscpuTable) -> int | None:
    """Return the cores of all sockets; None if the number of cores or of sockets is not reported."""
    sockets, each = count(values, "Socket(s)"), count(values, "Core(s) per socket")
    return sockets * each if isinstance(sockets, int) and isinstance(each, int) else None
