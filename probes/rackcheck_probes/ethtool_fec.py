"""Which error correction each network interface's link uses."""

from collections.abc import Mapping

from rackcheck import Absent, Facts, Shell, Unreadable, listing, probe, spell_key, text
from rackcheck.core.fact import Reading, clean
from rackcheck.core.read import ethtool, per_device
from rackcheck_probes.interfaces import HARDWARE

NAMES = ("Supported/Configured FEC encodings", "Configured FEC encodings")
"""Newer ethtool says the first, older the second, of the same thing."""


def fec(said: str) -> Mapping[str, Reading]:
    """Read the encodings; without a link none is active."""
    told = dict(ethtool.pairs(said))
    configured = next((told[name] for name in NAMES if name in told), None)
    active = told.get("Active FEC encoding", told.get("Active FEC encodings"))
    if configured is None or active is None:
        raise Unreadable(f"no FEC parameters: {clean(said, 80)!r}")
    none = not active or active == "None"
    return {"fec.configured": tuple(configured.split()), "fec.active": Absent("none is active") if none else active}


@probe(
    Shell("ethtool --show-fec {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.fec.configured": listing("The encodings that it may use: Auto, Off, RS, BaseR, LLRS."),
        "nic.interface/*.fec.active": text("The encoding in use: RS, BaseR, Off; absent without a link."),
    },
)
def ethtool_fec(answer: str) -> Facts:
    """Read each interface's error correction."""
    for name, told in per_device.read(answer, ("fec.configured", "fec.active"), fec):
        for leaf, reading in told.items():
            yield f"nic.interface/{spell_key(name)}.{leaf}", reading
