"""Global pause of each network interface: whether it sends pause requests, and whether it obeys them."""

from rackcheck import Facts, Shell, flag, probe
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import ethtool_settings
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ethtool -a {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.pause.autoneg": flag("Whether pause is negotiated with the other end."),
        "nic.interface/*.pause.rx": flag("Whether the interface stops sending when the other end requests a pause."),
        "nic.interface/*.pause.tx": flag(
            "Whether the interface requests pauses; off where priorities pause separately (PFC)."
        ),
    },
)
def ethtool_pause(answer: str) -> Facts:
    """Read each interface's pause settings."""
    yield from per_device.facts(answer, "nic.interface/*.pause", ethtool_settings.PAUSE, ethtool_settings.pause)
