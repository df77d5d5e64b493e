"""Driver version and firmware of each network interface."""

from rackcheck import Facts, Shell, probe, version
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import ethtool_settings
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ethtool -i {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.driver_version": version(
            "opaque", "The driver's version; a driver that is part of the kernel reports the kernel's version."
        ),
        "nic.interface/*.firmware": version(
            "prefixed", "The firmware, as the driver writes it: 28.41.1000 (MT_0000000834)."
        ),
        "nic.interface/*.option_rom": version("opaque", "The version of the option ROM; absent without one."),
    },
)
def ethtool_driver(answer: str) -> Facts:
    """Read the versions of each interface's driver and firmware."""
    yield from per_device.facts(answer, "nic.interface/*", ethtool_settings.VERSIONS, ethtool_settings.versions)
