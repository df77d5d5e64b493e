"""Rows of the kernel's tables of TCP sockets, /proc/net/tcp and /proc/net/tcp6: those that listen (state 0A)."""

import re

from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import rows

END = "-- end --"
"""What the shell prints behind the rows: without it they were cut."""

_LISTENER = re.compile(r" {0,8}[0-9]{1,9}: [0-9A-F]{8,32}:(?P<port>[0-9A-F]{4}) [0-9A-F]{8,32}:0000 0A .{0,300}")


def ports(answer: str) -> tuple[str, ...]:
    """Give the ports of listeners, each once, by their number.

    Raises Unreadable on a row that is no listener, and where the last row is not END: then the answer was cut.
    """
    table = rows(answer)
    if table[-1:] != [END]:
        raise Unreadable("the answer was cut")
    found = set()
    for row in table[:-1]:
        match = _LISTENER.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a listener: {row[:80]!r}")
        found.add(int(match["port"], 16))
    return tuple(str(port) for port in sorted(found))
