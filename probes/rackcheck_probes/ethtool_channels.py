"""How many queues each network interface works with."""

from collections.abc import Mapping

from rackcheck import Facts, Shell, integer, probe, spell_key
from rackcheck.core.fact import Reading
from rackcheck.core.read import ethtool, per_device
from rackcheck_probes.interfaces import HARDWARE

KINDS = {"rx": "RX", "tx": "TX", "combined": "Combined"}
LEAVES = tuple(f"channels.{kind}{end}" for end in ("", "_max") for kind in KINDS)


def channels(text: str) -> Mapping[str, Reading]:
    """Read the queues' numbers."""
    highest, current = ethtool.halves(text)
    ends = {"": current, "_max": highest}
    return {
        f"channels.{kind}{end}": ethtool.number(told.get(key))
        for end, told in ends.items()
        for kind, key in KINDS.items()
    }


@probe(
    Shell("ethtool -l {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.channels.rx": integer("Queues that only receive."),
        "nic.interface/*.channels.tx": integer("Queues that only send."),
        "nic.interface/*.channels.combined": integer("Queues that do both."),
        "nic.interface/*.channels.rx_max": integer("Queues that could only receive."),
        "nic.interface/*.channels.tx_max": integer("Queues that could only send."),
        "nic.interface/*.channels.combined_max": integer("Queues that could do both."),
    },
)
def ethtool_channels(answer: str) -> Facts:
    """Read each interface's queues."""
    for name, told in per_device.read(answer, LEAVES, channels):
        for leaf, reading in told.items():
            yield f"nic.interface/{spell_key(name)}.{leaf}", reading
