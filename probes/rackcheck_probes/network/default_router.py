"""The router of the IPv4 default route, and whether it answers: IPv6 neighbours stand in no file."""

from rackcheck import Absent, Class, Facts, Files, Read, Sourced, flag, probe, text
from rackcheck.parse.host.network import proc_arp, routes
from rackcheck_probes.network.default_route import V4

ARP = "/proc/net/arp"


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
    interface, written = routes.ipv4(files.text(V4))
    router = routes.dotted(written)
    if router in {"", "0.0.0.0"}:  # noqa: S104  # no interface is bound
        yield "nic.default_route.router", Sourced(Absent("no router"), V4)
        yield "nic.default_route.router_answered", Sourced(Absent("no router"), V4)
        return
    yield "nic.default_route.router", Sourced(router, V4)
    told = proc_arp.answered(files.text(ARP), router, interface)
    yield "nic.default_route.router_answered", Sourced(Absent("not asked of late") if told is None else told, ARP)
