"""How long each network interface gathers packets before it interrupts."""

import re
from collections.abc import Mapping

from rackcheck import Facts, Shell, Unreadable, flag, integer, probe, spell_key
from rackcheck.core.fact import Reading, clean
from rackcheck.core.read import ethtool, per_device
from rackcheck_probes.interfaces import HARDWARE

NUMBERS = {"rx_usecs": "rx-usecs", "tx_usecs": "tx-usecs", "rx_frames": "rx-frames", "tx_frames": "tx-frames"}
FLAGS = ("adaptive_rx", "adaptive_tx")
LEAVES = tuple(f"coalescing.{leaf}" for leaf in (*FLAGS, *NUMBERS))
ADAPTIVE = re.compile(r"(on|off|n/a) {1,8}TX: (on|off|n/a)")


def coalescing(text: str) -> Mapping[str, Reading]:
    """Read the settings; both adaptive ones stand on one line."""
    told = dict(ethtool.pairs(text))
    match = ADAPTIVE.fullmatch(told.get("Adaptive RX", ""))
    if match is None:
        raise Unreadable(f"no coalesce parameters: {clean(text, 80)!r}")
    found = {f"coalescing.{leaf}": ethtool.switch(word) for leaf, word in zip(FLAGS, match.groups(), strict=True)}
    return found | {f"coalescing.{leaf}": ethtool.number(told.get(key)) for leaf, key in NUMBERS.items()}


@probe(
    Shell("ethtool -c {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.coalescing.adaptive_rx": flag("Whether the driver chooses for received packets."),
        "nic.interface/*.coalescing.adaptive_tx": flag("Whether the driver chooses for sent packets."),
        "nic.interface/*.coalescing.rx_usecs": integer("Microseconds it waits after a received packet."),
        "nic.interface/*.coalescing.tx_usecs": integer("Microseconds it waits after a sent packet."),
        "nic.interface/*.coalescing.rx_frames": integer("Received packets it waits for at the most."),
        "nic.interface/*.coalescing.tx_frames": integer("Sent packets it waits for at the most."),
    },
)
def ethtool_coalescing(answer: str) -> Facts:
    """Read each interface's settings."""
    for name, told in per_device.read(answer, LEAVES, coalescing):
        for leaf, reading in told.items():
            yield f"nic.interface/{spell_key(name)}.{leaf}", reading
