"""The forward error correction (FEC) that the link of each network interface uses."""

from rackcheck import Facts, Shell, listing, probe, text
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import ethtool_settings
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ethtool --show-fec {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.fec.configured": listing("The allowed encodings: Auto, Off, RS, BaseR, LLRS."),
        "nic.interface/*.fec.active": text("The encoding in use: RS, BaseR, Off; absent without a link."),
    },
)
def ethtool_fec(answer: str) -> Facts:
    """Read each interface's error correction."""
    yield from per_device.facts(answer, "nic.interface/*.fec", ethtool_settings.FEC, ethtool_settings.fec)
