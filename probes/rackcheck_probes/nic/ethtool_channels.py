"""The queues of each network interface."""

from rackcheck import Facts, Shell, integer, probe
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import ethtool_settings
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ethtool -l {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.channels.rx": integer("Queues that only receive."),
        "nic.interface/*.channels.tx": integer("Queues that only send."),
        "nic.interface/*.channels.combined": integer("Queues that receive and send."),
        "nic.interface/*.channels.rx_max": integer("Maximum number of queues that only receive."),
        "nic.interface/*.channels.tx_max": integer("Maximum number of queues that only send."),
        "nic.interface/*.channels.combined_max": integer("Maximum number of queues that receive and send."),
    },
)
def ethtool_channels(answer: str) -> Facts:
    """Read each interface's queues."""
    yield from per_device.facts(
        answer, "nic.interface/*.channels", ethtool_settings.CHANNELS, ethtool_settings.channels
    )
