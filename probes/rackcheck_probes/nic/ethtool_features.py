"""Which features each network interface offloads to hardware."""

from rackcheck import Facts, Shell, collection, flag, probe
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import ethtool_settings
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ethtool -k {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.feature": collection("Features that the kernel can offload to a device, by ethtool's names."),
        "nic.interface/*.feature/*.on": flag("Whether the feature is offloaded."),
        "nic.interface/*.feature/*.fixed": flag("Whether the setting of this feature cannot be changed."),
    },
)
def ethtool_features(answer: str) -> Facts:
    """Read each interface's features."""
    yield from per_device.facts(answer, "nic.interface/*", ("feature",), ethtool_settings.features)
