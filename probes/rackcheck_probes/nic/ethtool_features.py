"""What each network interface does in hardware."""

from rackcheck import Facts, Shell, collection, flag, probe
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import ethtool_settings
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ethtool -k {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.feature": collection("What the kernel can leave to a device, by ethtool's names."),
        "nic.interface/*.feature/*.on": flag("Whether it is left to the device."),
        "nic.interface/*.feature/*.fixed": flag("Whether nobody can change that."),
    },
)
def ethtool_features(answer: str) -> Facts:
    """Read each interface's features."""
    yield from per_device.facts(answer, "nic.interface/*", ("feature",), ethtool_settings.features)
