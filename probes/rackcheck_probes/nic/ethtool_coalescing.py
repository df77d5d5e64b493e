"""How long each network interface collects packets before an interrupt."""

from rackcheck import Facts, Shell, flag, integer, probe
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import ethtool_settings
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ethtool -c {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.coalescing.adaptive_rx": flag("Whether the driver adapts the delay for received packets."),
        "nic.interface/*.coalescing.adaptive_tx": flag("Whether the driver adapts the delay for sent packets."),
        "nic.interface/*.coalescing.rx_usecs": integer(
            "Microseconds that the interface waits after a received packet."
        ),
        "nic.interface/*.coalescing.tx_usecs": integer("Microseconds that the interface waits after a sent packet."),
        "nic.interface/*.coalescing.rx_frames": integer("Maximum number of received packets before an interrupt."),
        "nic.interface/*.coalescing.tx_frames": integer("Maximum number of sent packets before an interrupt."),
    },
)
def ethtool_coalescing(answer: str) -> Facts:
    """Read each interface's settings of interrupt coalescing."""
    yield from per_device.facts(
        answer, "nic.interface/*.coalescing", ethtool_settings.COALESCING, ethtool_settings.coalescing
    )
