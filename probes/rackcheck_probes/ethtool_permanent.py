"""The hardware address each network interface was made with."""

import re
from collections.abc import Mapping

from rackcheck import Absent, Class, Facts, Shell, Unreadable, probe, spell_key, text
from rackcheck.core.fact import Reading, clean
from rackcheck.core.read import ethtool, per_device
from rackcheck_probes.interfaces import HARDWARE

ROW = re.compile(r"Permanent address: ((?:[0-9a-f]{2}:){5,19}[0-9a-f]{2}|not set)")


def permanent(said: str) -> Mapping[str, Reading]:
    """Read the address."""
    match = ROW.fullmatch(ethtool.answered(said).strip())
    if match is None:
        raise Unreadable(f"no address: {clean(said, 80)!r}")
    unset = not match[1].strip("nots e0:")
    return {"mac_permanent": Absent("the device tells none") if unset else match[1]}


@probe(
    Shell("ethtool -P {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.mac_permanent": text(
            "The hardware address of the device itself, whatever it uses now.", Class.IDENTITY
        )
    },
)
def ethtool_permanent(answer: str) -> Facts:
    """Read each interface's address."""
    for name, told in per_device.read(answer, ("mac_permanent",), permanent):
        yield f"nic.interface/{spell_key(name)}.mac_permanent", told["mac_permanent"]
