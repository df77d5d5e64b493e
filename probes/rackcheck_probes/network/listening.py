"""TCP ports with a listener, such as 6666 (Fabric Manager), 5555 (DCGM) and 50000 (IMEX)."""

from rackcheck import Class, Facts, Shell, flag, listing, probe
from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows

# Rows of the kernel's tables of TCP sockets, /proc/net/tcp and /proc/net/tcp6: only sockets that listen (state 0A).

END = "-- end --"
"""Last row of the output; without this row, the output was truncated."""

_LISTENER = regex(r" {0,8}[0-9]{1,9}: [0-9A-F]{8,32}:(?P<port>[0-9A-F]{4}) [0-9A-F]{8,32}:0000 0A .{0,300}")


def ports(answer: str) -> tuple[str, ...]:
    """Return the TCP ports that have a listener, in numeric order, without duplicates.

    Raises Unreadable on a row that is not a listening TCP socket, and on truncated output, which does not end with the
    row END.
    """
    table = rows(answer)
    if table[-1:] != [END]:
        raise Unreadable("the output was truncated")
    found = set()
    for row in table[:-1]:
        match = _LISTENER.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a listener: {row[:80]!r}")
        found.add(int(match["port"], 16))
    return tuple(str(port) for port in sorted(found))


FABRIC_MANAGER = "6666"
"""Default TCP port of the Fabric Manager (FM_CMD_PORT_NUMBER)."""


# Of a busy node's connections, only the listeners (state 0A) leave the node. A kernel without IPv6 has no tcp6.
@probe(
    Shell(
        "[ -r /proc/net/tcp ] || { echo '/proc/net/tcp: permission denied' >&2; exit 1; }\n"
        "for f in /proc/net/tcp /proc/net/tcp6; do [ -e $f ] || continue\n"
        "grep -E ' [0-9A-F]+:0000 0A ' $f || { s=$?; [ $s = 1 ] || exit $s; }\n"
        f"done; echo '{END}'",
        quick=True,
    ),
    gives={
        "os.ports.listening": listing("TCP ports with a listener, on any address, in order.", Class.MEASUREMENT),
        "driver.fabric.listening": flag("Whether the Fabric Manager's default port, 6666, has a listener."),
    },
)
def listening(answer: str) -> Facts:
    """Read the ports of IPv4 and IPv6 listeners."""
    found = ports(answer)
    yield "os.ports.listening", found
    yield "driver.fabric.listening", FABRIC_MANAGER in found
