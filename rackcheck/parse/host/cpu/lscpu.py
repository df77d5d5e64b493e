"""lscpu's table, flat (older) or indented (newer): `Model name: AMD EPYC 7742 64-Core Processor`; `-` means unknown."""

from collections.abc import Mapping

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.model.text.values import key_values, rows, whole

LscpuTable = Mapping[str, str]
"""The values of lscpu's table, by the field names that lscpu prints."""


def table(answer: str) -> LscpuTable:
    """Read lscpu's table; raises Unreadable if `CPU(s)` is missing, or both `NUMA node0` and `L1d` are (cut output)."""
    found = key_values("\n".join(rows(answer)))
    if "CPU(s)" not in found or not any(key.startswith(("NUMA node0", "L1d")) for key in found):
        raise Unreadable("incomplete output of lscpu: no CPU(s), or the answer ends before the caches")
    return found


def count(values: LscpuTable, key: str) -> int | Unknown | None:
    """Return a field as a whole number; None if lscpu does not print the field, Unknown if it prints a dash.

    Raises Unreadable if the field of lscpu has another text.
    """
    if key not in values:
        return None
    return Unknown(Reason.NOT_COLLECTED, f"lscpu: {key}: -") if values[key] == "-" else whole(values[key])


def cores(values: LscpuTable) -> int | None:
    """Return the number of cores in all sockets; None if lscpu reports no number of sockets, or of cores per socket."""
    sockets, each = count(values, "Socket(s)"), count(values, "Core(s) per socket")
    return sockets * each if isinstance(sockets, int) and isinstance(each, int) else None
