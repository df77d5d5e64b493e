"""Which interface answers for which address: what several rails in one network need."""

from rackcheck import Facts, Files, Read, integer, probe, spell_key
from rackcheck.model import text as read
from rackcheck.parse.host.network import ipv4_conf
from rackcheck_probes.network.interfaces import HARDWARE

MARK = f"{HARDWARE}/mtu"


@probe(
    Read(MARK, *(ipv4_conf.PLACE.format("*", leaf) for leaf in ipv4_conf.LARGER)),
    gives={
        f"nic.interface/*.{leaf}": integer(f"{help_} In force is the larger of the interface's and of all's.")
        for leaf, help_ in ipv4_conf.LARGER.items()
    },
)
def interface_arp(files: Files) -> Facts:
    """Read what is in force on each interface with hardware behind it; one without IPv4 has none."""
    for name in sorted({found[-1] for found in files.found(MARK)}, key=read.natural):
        for leaf in ipv4_conf.LARGER:
            yield f"nic.interface/{spell_key(name)}.{leaf}", ipv4_conf.in_force(files, name, leaf)
