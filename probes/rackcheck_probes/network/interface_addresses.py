"""The IP addresses of each network interface."""

from rackcheck import Class, Facts, Shell, listing, probe
from rackcheck.model.text import per_device
from rackcheck.parse.host.network import iproute
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ip -o addr show dev {}", each=HARDWARE, seconds=20, lane="network"),
    gives={
        "nic.interface/*.ipv4": listing(
            "The interface's global IPv4 addresses; absent if it has none.", Class.IDENTITY
        ),
        "nic.interface/*.ipv6": listing(
            "The interface's global IPv6 addresses; absent if it has none.", Class.IDENTITY
        ),
    },
)
def interface_addresses(answer: str) -> Facts:
    """Read each interface's addresses."""
    yield from per_device.facts(answer, "nic.interface/*", iproute.FAMILIES, iproute.addresses)
