"""The permanent hardware address of each network interface."""

from rackcheck import Class, Facts, Shell, probe, text
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import ethtool_settings
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ethtool -P {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.mac_permanent": text(
            "The hardware address of the device itself, regardless of the address in use.", Class.IDENTITY
        )
    },
)
def ethtool_permanent(answer: str) -> Facts:
    """Read each interface's permanent hardware address."""
    yield from per_device.facts(answer, "nic.interface/*", ("mac_permanent",), ethtool_settings.permanent)
