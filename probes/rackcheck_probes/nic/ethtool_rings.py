"""The size of each network interface's rings."""

from rackcheck import Facts, Shell, integer, probe
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import ethtool_settings
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ethtool -g {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.ring.rx": integer("Size of each receive ring, in packets."),
        "nic.interface/*.ring.tx": integer("Size of each transmit ring, in packets."),
        "nic.interface/*.ring.rx_max": integer("Maximum size of a receive ring, in packets."),
        "nic.interface/*.ring.tx_max": integer("Maximum size of a transmit ring, in packets."),
    },
)
def ethtool_rings(answer: str) -> Facts:
    """Read each interface's rings."""
    yield from per_device.facts(answer, "nic.interface/*.ring", ethtool_settings.RINGS, ethtool_settings.rings)
