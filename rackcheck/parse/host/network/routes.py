"""The kernel's routing tables, /proc/net/route and /proc/net/ipv6_route: which route is the default."""

import re

from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import whole

_UP, _REJECT = 0x1, 0x200
_ANYWHERE = regex(r"0{32} 00 0{32} 00 ")


def ipv4(content: str) -> tuple[str, str]:
    """Return the IPv4 default route of the lowest metric: its interface and its router, as the kernel writes them.

    Without a default route, the interface and the router are empty texts. Raises Unreadable if the table has no
    heading, or has a row that is not a route.
    """
    rows = content.splitlines()
    if not rows or not rows[0].startswith("Iface"):
        raise Unreadable("not a table of routes")
    found: list[tuple[int, str, str]] = []
    for row in rows[1:]:
        fields = row.split()
        if (
            len(fields) < 8
            or not all(re.fullmatch(r"[0-9A-F]{8}", fields[at]) for at in (1, 2))
            or not re.fullmatch(r"[0-9A-F]{4}", fields[3])
        ):
            raise Unreadable(f"not a route: {row[:80]!r}")
        flags = int(fields[3], 16)
        if fields[1] == fields[7] == "00000000" and flags & _UP and not flags & _REJECT:
            found.append((whole(fields[6]), fields[0], fields[2]))
    return min(found)[1:] if found else ("", "")


def dotted(written: str) -> str:
    """Convert a router's address from the kernel's hexadecimal form to dotted form (10.0.0.1).

    The kernel writes the router's address in the machine's byte order, which is little-endian on x86 and ARM. An empty
    text means that there is no router, and is returned unchanged.
    """
    return ".".join(str(part) for part in reversed(bytes.fromhex(written)))


def by_ipv4(content: str) -> str:
    """Return the interface of the IPv4 default route with the lowest metric; an empty text if there is none."""
    return ipv4(content)[0]


def by_ipv6(content: str) -> str:
    """Return the interface of the IPv6 default route with the lowest metric; an empty text if there is none.

    A route that rejects packets, or a route on `lo`, does not count as a default route. Raises Unreadable on a row that
    is not a route.
    """
    found: list[tuple[int, str]] = []
    for row in content.splitlines():
        fields = row.split()
        if len(fields) != 10 or not all(re.fullmatch(r"[0-9a-f]{8}", fields[at]) for at in (5, 8)):
            raise Unreadable(f"not a route: {row[:80]!r}")
        flags = int(fields[8], 16)
        if _ANYWHERE.match(row) and flags & _UP and not flags & _REJECT and fields[9] != "lo":
            found.append((int(fields[5], 16), fields[9]))
    return min(found)[1] if found else ""
