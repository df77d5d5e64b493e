"""How many packets each network interface's rings hold."""

from rackcheck import Facts, Shell, integer, probe
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import ethtool_settings
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ethtool -g {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.ring.rx": integer("Packets that each receiving ring holds."),
        "nic.interface/*.ring.tx": integer("Packets that each sending ring holds."),
        "nic.interface/*.ring.rx_max": integer("Packets that a receiving ring could hold."),
        "nic.interface/*.ring.tx_max": integer("Packets that a sending ring could hold."),
    },
)
def ethtool_rings(answer: str) -> Facts:
    """Read each interface's rings."""
    yield from per_device.facts(answer, "nic.interface/*.ring", ethtool_settings.RINGS, ethtool_settings.rings)
