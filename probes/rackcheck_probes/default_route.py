"""The default route: through which interface packets leave for everywhere else."""

import re

from rackcheck import Absent, Facts, Files, Read, Sourced, Unreadable, probe, text
from rackcheck.core import read

V4, V6 = "/proc/net/route", "/proc/net/ipv6_route"
UP, REJECT = 0x1, 0x200
ZERO = re.compile(r"0{32} 00 0{32} 00 ")


def ipv4(content: str) -> tuple[str, str]:
    """Give interface and router, as the kernel writes it, of the default route with the lowest metric; else blanks."""
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
        if fields[1] == fields[7] == "00000000" and flags & UP and not flags & REJECT:
            found.append((read.whole(fields[6]), fields[0], fields[2]))
    return min(found)[1:] if found else ("", "")


def by_ipv4(content: str) -> str:
    """Give the interface of the default route with the lowest metric; an empty text if there is none."""
    return ipv4(content)[0]


def by_ipv6(content: str) -> str:
    """Give the interface of the default route with the lowest metric; the kernel's own reject routes are none."""
    found: list[tuple[int, str]] = []
    for row in content.splitlines():
        fields = row.split()
        if len(fields) != 10 or not all(re.fullmatch(r"[0-9a-f]{8}", fields[at]) for at in (5, 8)):
            raise Unreadable(f"not a route: {row[:80]!r}")
        flags = int(fields[8], 16)
        if ZERO.match(row) and flags & UP and not flags & REJECT and fields[9] != "lo":
            found.append((int(fields[5], 16), fields[9]))
    return min(found)[1] if found else ""


@probe(
    Read(V4, V6, cap=4 << 20),
    gives={
        "nic.default_route.ipv4": text("The interface of the IPv4 default route; absent if there is none."),
        "nic.default_route.ipv6": text("The interface of the IPv6 default route; absent if there is none."),
    },
)
def default_route(files: Files) -> Facts:
    """Read both tables."""
    for leaf, place, reader in (("ipv4", V4, by_ipv4), ("ipv6", V6, by_ipv6)):
        told = files.read(place, reader)
        yield f"nic.default_route.{leaf}", Sourced(Absent("no default route"), place) if told.reading == "" else told
