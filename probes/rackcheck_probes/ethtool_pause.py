"""Whether each network interface stops its sender, and stops for its receiver (global pause)."""

from collections.abc import Mapping

from rackcheck import Facts, Shell, Unreadable, flag, probe, spell_key
from rackcheck.core.fact import Reading, clean
from rackcheck.core.read import ethtool, per_device
from rackcheck_probes.interfaces import HARDWARE

LEAVES = {"pause.autoneg": "Autonegotiate", "pause.rx": "RX", "pause.tx": "TX"}


def pause(text: str) -> Mapping[str, Reading]:
    """Read the settings."""
    told = dict(ethtool.pairs(text))
    if "RX" not in told:
        raise Unreadable(f"no pause parameters: {clean(text, 80)!r}")
    return {leaf: ethtool.switch(told.get(key)) for leaf, key in LEAVES.items()}


@probe(
    Shell("ethtool -a {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.pause.autoneg": flag("Whether pause is agreed with the other end."),
        "nic.interface/*.pause.rx": flag("Whether it stops sending when the other end asks for a pause."),
        "nic.interface/*.pause.tx": flag("Whether it asks for a pause; off where priorities pause alone (PFC)."),
    },
)
def ethtool_pause(answer: str) -> Facts:
    """Read each interface's pause."""
    for name, told in per_device.read(answer, tuple(LEAVES), pause):
        for leaf, reading in told.items():
            yield f"nic.interface/{spell_key(name)}.{leaf}", reading
