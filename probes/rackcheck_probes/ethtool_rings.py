"""How many packets each network interface's rings hold."""

from collections.abc import Mapping

from rackcheck import Facts, Shell, integer, probe, spell_key
from rackcheck.core.fact import Reading
from rackcheck.core.read import ethtool, per_device
from rackcheck_probes.interfaces import HARDWARE

WAYS = {"rx": "RX", "tx": "TX"}
LEAVES = tuple(f"ring.{way}{end}" for end in ("", "_max") for way in WAYS)


def rings(text: str) -> Mapping[str, Reading]:
    """Read the rings' sizes."""
    highest, current = ethtool.halves(text)
    ends = {"": current, "_max": highest}
    return {
        f"ring.{way}{end}": ethtool.number(told.get(key)) for end, told in ends.items() for way, key in WAYS.items()
    }


@probe(
    Shell("ethtool -g {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.ring.rx": integer("Packets that each receiving ring holds."),
        "nic.interface/*.ring.tx": integer("Packets that each sending ring holds."),
        "nic.interface/*.ring.rx_max": integer("Packets that a receiving ring could hold."),
        "nic.interface/*.ring.tx_max": integer("Packets that a sending ring could hold."),
    },
)
def ethtool_rings(answer: str) -> Facts:
    """Read each interface's rings."""
    for name, told in per_device.read(answer, LEAVES, rings):
        for leaf, reading in told.items():
            yield f"nic.interface/{spell_key(name)}.{leaf}", reading
