"""/proc/vmstat: the kernel's memory counters by the kernel's names; see proc_vmstat(5)."""

from collections.abc import Mapping

from rackcheck.model.fact import Absent, Unreadable
from rackcheck.model.text.values import rows, whole

PER_ZONE = frozenset({"allocstall"})
"""Counters that Linux 4.8 and later has for each zone (`allocstall_normal`); older kernels count all zones together."""


def counters(content: str) -> Mapping[str, str]:
    """Return each counter's text by name; raises Unreadable if the file lacks `pgfault`, which every kernel has."""
    table = {name: count for name, _, count in (row.partition(" ") for row in rows(content))}
    if "pgfault" not in table:
        raise Unreadable("no pgfault in /proc/vmstat")
    return table


def count(table: Mapping[str, str], name: str) -> int | Absent:
    """Read one counter of /proc/vmstat, added up over all zones; absent if this kernel does not have the counter.

    Raises Unreadable if a counter is not a number.
    """
    if name in PER_ZONE:
        found = [whole(text) for key, text in table.items() if key.startswith(name)]
    else:
        found = [whole(table[name])] if name in table else []
    return sum(found) if found else Absent(f"no {name} in /proc/vmstat")
