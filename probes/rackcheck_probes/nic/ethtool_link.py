"""Link negotiation of each network interface."""

from rackcheck import Facts, Shell, flag, listing, probe, text
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import ethtool_settings
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ethtool {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.autoneg": flag("Whether the interface negotiates the link with the other end."),
        "nic.interface/*.connector": text("The connector's type: Direct Attach Copper, FIBRE, Twisted Pair, Other."),
        "nic.interface/*.link_detected": flag("Whether the driver detects a link."),
        "nic.interface/*.link_modes": listing("The link modes that the interface supports: 400000baseSR4/Full."),
        "nic.interface/*.partner_modes": listing("The link modes that the other end offers; absent if not advertised."),
    },
)
def ethtool_link(answer: str) -> Facts:
    """Read each interface's link. Without root, ethtool omits only wake-up settings, which are not needed."""
    yield from per_device.facts(answer, "nic.interface/*", ethtool_settings.LINK, ethtool_settings.link)
