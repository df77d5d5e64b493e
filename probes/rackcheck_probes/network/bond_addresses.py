"""The IP addresses of each bond."""

from rackcheck import Class, Facts, Shell, listing, probe
from rackcheck.model.text import per_device
from rackcheck.parse.host.network import iproute
from rackcheck_probes.network.interfaces import BONDS


@probe(
    Shell("ip -o address show dev {}", each=BONDS, seconds=20, lane="network"),
    gives={
        "nic.bond/*.ipv4": listing("The bond's global IPv4 addresses; absent if it has none.", Class.IDENTITY),
        "nic.bond/*.ipv6": listing("The bond's global IPv6 addresses; absent if it has none.", Class.IDENTITY),
    },
)
def bond_addresses(answer: str) -> Facts:
    """Read each bond's addresses."""
    yield from per_device.facts(answer, "nic.bond/*", iproute.FAMILIES, iproute.addresses)
