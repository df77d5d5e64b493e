"""The interfaces of the default routes."""

from rackcheck import Absent, Facts, Files, Read, Sourced, probe, text
from rackcheck.parse.host.network import routes

V4, V6 = "/proc/net/route", "/proc/net/ipv6_route"


@probe(
    Read(V4, V6, cap=4 << 20),
    gives={
        "nic.default_route.ipv4": text("The interface of the IPv4 default route; absent if there is none."),
        "nic.default_route.ipv6": text("The interface of the IPv6 default route; absent if there is none."),
    },
)
def default_route(files: Files) -> Facts:
    """Read the routing tables of IPv4 and IPv6."""
    for leaf, place, reader in (("ipv4", V4, routes.by_ipv4), ("ipv6", V6, routes.by_ipv6)):
        sourced = files.read(place, reader)
        yield (
            f"nic.default_route.{leaf}",
            Sourced(Absent("no default route"), place) if sourced.reading == "" else sourced,
        )
