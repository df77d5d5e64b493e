"""How each network interface agreed on its link."""

from rackcheck import Facts, Shell, flag, listing, probe, text
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import ethtool_settings
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ethtool {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.autoneg": flag("Whether it agrees on the link with the other end."),
        "nic.interface/*.connector": text("What its socket takes: Direct Attach Copper, FIBRE, Twisted Pair, Other."),
        "nic.interface/*.link_detected": flag("Whether the driver sees a link."),
        "nic.interface/*.link_modes": listing("The links it could have: 400000baseSR4/Full."),
        "nic.interface/*.partner_modes": listing("The links that the other end offers; absent if it does not say."),
    },
)
def ethtool_link(answer: str) -> Facts:
    """Read each interface's link. Without root its wake-up settings are refused, which changes nothing."""
    yield from per_device.facts(answer, "nic.interface/*", ethtool_settings.LINK, ethtool_settings.link)
