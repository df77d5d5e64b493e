"""The router of the IPv4 default route, and whether it responds.

IPv6 is left out, because no file of the kernel lists IPv6 neighbours.
"""

from rackcheck import Absent, Class, Facts, Files, Read, Sourced, flag, probe, text
from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows
from rackcheck.parse.host.network import routes
from rackcheck_probes.network.default_route import V4

ARP = "/proc/net/arp"


@probe(
    Read(V4, ARP, cap=4 << 20),
    gives={
        "nic.default_route.router": text("The address of the IPv4 default route's router; absent without one."),
        "nic.default_route.router_answered": flag(
            "Whether the default route's router answered the node's last ARP request; absent without a recent request.",
            Class.MEASUREMENT,
        ),
    },
)
def default_router(files: Files) -> Facts:
    """Read the IPv4 default route, and the row of its router in the neighbour table."""
    interface, written = routes.ipv4(files.text(V4))
    router = routes.dotted(written)
    if router in {"", "0.0.0.0"}:  # noqa: S104  # no interface is bound
        yield "nic.default_route.router", Sourced(Absent("no router"), V4)
        yield "nic.default_route.router_answered", Sourced(Absent("no router"), V4)
        return
    yield "nic.default_route.router", Sourced(router, V4)
    known = answered(files.text(ARP), router, interface)
    yield "nic.default_route.router_answered", Sourced(Absent("no recent ARP request") if known is None else known, ARP)


# The kernel's table of IPv4 neighbours, /proc/net/arp; no file lists IPv6 neighbours.


_COMPLETE = 0x2
"""Flag of a neighbour whose hardware address is known (ATF_COM, include/uapi/linux/if_arp.h)."""

_FLAGS = regex(r"0x[0-9a-f]{1,8}")


def answered(content: str, address: str, interface: str) -> bool | None:
    """Whether a neighbour's hardware address is known; None if the neighbour is not in the table.

    Raises Unreadable if the neighbour table has no header, or if the neighbour's row or an earlier row is malformed.
    """
    table = rows(content)
    if not table or not table[0].startswith("IP address "):
        raise Unreadable("not a table of neighbours")
    for row in table[1:]:
        fields = row.split()
        if len(fields) != 6 or not _FLAGS.fullmatch(fields[2]):
            raise Unreadable(f"not a neighbour: {row[:80]!r}")
        if (fields[0], fields[5]) == (address, interface):
            return bool(int(fields[2], 16) & _COMPLETE)
    return None
