"""Which driver version and firmware each network interface runs with."""

from collections.abc import Mapping

from rackcheck import Absent, Facts, Shell, Unreadable, probe, spell_key, version
from rackcheck.core.fact import Reading, clean
from rackcheck.core.read import ethtool, per_device
from rackcheck_probes.interfaces import HARDWARE

LEAVES = {"driver_version": "version", "firmware": "firmware-version", "option_rom": "expansion-rom-version"}


def versions(text: str) -> Mapping[str, Reading]:
    """Read the versions; drivers write N/A, or nothing, where they have none."""
    told = dict(ethtool.pairs(text))
    if "driver" not in told:
        raise Unreadable(f"no driver: {clean(text, 80)!r}")
    none = {"", "N/A", "n/a"}
    return {
        leaf: Absent(f"the driver tells no {key}") if told.get(key, "") in none else told[key]
        for leaf, key in LEAVES.items()
    }


@probe(
    Shell("ethtool -i {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.driver_version": version(
            "opaque", "The driver's version; a driver of the kernel tells the kernel's."
        ),
        "nic.interface/*.firmware": version("opaque", "The firmware, as the driver writes it."),
        "nic.interface/*.option_rom": version("opaque", "The version of the option ROM; absent without one."),
    },
)
def ethtool_driver(answer: str) -> Facts:
    """Read each interface's versions."""
    for name, told in per_device.read(answer, tuple(LEAVES), versions):
        for leaf, reading in told.items():
            yield f"nic.interface/{spell_key(name)}.{leaf}", reading
