"""Whether each network interface stops its sender, and stops for its receiver (global pause)."""

from rackcheck import Facts, Shell, flag, probe
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import ethtool_settings
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ethtool -a {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.pause.autoneg": flag("Whether pause is agreed with the other end."),
        "nic.interface/*.pause.rx": flag("Whether it stops sending when the other end asks for a pause."),
        "nic.interface/*.pause.tx": flag("Whether it asks for a pause; off where priorities pause alone (PFC)."),
    },
)
def ethtool_pause(answer: str) -> Facts:
    """Read each interface's pause."""
    yield from per_device.facts(answer, "nic.interface/*.pause", ethtool_settings.PAUSE, ethtool_settings.pause)
