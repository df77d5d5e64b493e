"""The router of the IPv4 default route, and whether it answers: IPv6 neighbours stand in no file."""

import re

from rackcheck import Absent, Class, Facts, Files, Read, Sourced, Unreadable, flag, probe, text
from rackcheck.core import read
from rackcheck_probes.default_route import V4, ipv4

ARP = "/proc/net/arp"
COMPLETE = 0x2
"""The flag of an entry that has a hardware address (ATF_COM, include/uapi/linux/if_arp.h)."""


def answered(content: str, router: str, interface: str) -> bool | None:
    """Say whether the entry of a router is complete; nothing without an entry."""
    rows = read.rows(content)
    if not rows or not rows[0].startswith("IP address "):
        raise Unreadable("not a table of neighbours")
    for row in rows[1:]:
        fields = row.split()
        if len(fields) != 6 or not re.fullmatch("0x[0-9a-f]{1,8}", fields[2]):
            raise Unreadable(f"not a neighbour: {row[:80]!r}")
        if (fields[0], fields[5]) == (router, interface):
            return bool(int(fields[2], 16) & COMPLETE)
    return None


@probe(
    Read(V4, ARP, cap=4 << 20),
    gives={
        "nic.default_route.router": text("The address of the IPv4 default route's router; absent if it names none."),
        "nic.default_route.router_answered": flag(
            "Whether that router answered when the node last asked for its hardware address; absent if not of late.",
            Class.MEASUREMENT,
        ),
    },
)
def default_router(files: Files) -> Facts:
    """Read the route, and its router's entry among the neighbours."""
    interface, hexadecimal = ipv4(files.text(V4))
    # Written as a number of the machine's own order, which is little-endian on x86 and ARM.
    router = ".".join(str(part) for part in reversed(bytes.fromhex(hexadecimal)))
    if router in {"", "0.0.0.0"}:  # noqa: S104  # no interface is bound
        for leaf in ("router", "router_answered"):
            yield f"nic.default_route.{leaf}", Sourced(Absent("no router"), V4)
        return
    yield "nic.default_route.router", Sourced(router, V4)
    complete = answered(files.text(ARP), router, interface)
    yield (
        "nic.default_route.router_answered",
        Sourced(Absent("not asked of late") if complete is None else complete, ARP),
    )
