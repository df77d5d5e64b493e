"""Which interface answers for which address: what several rails in one network need."""

from rackcheck import Facts, Files, Read, Sourced, integer, probe, spell_key
from rackcheck.core import read
from rackcheck_probes.interfaces import HARDWARE

LEAVES = {
    "rp_filter": "Check of a packet's source: 0 none, 1 strict, 2 loose.",
    "arp_ignore": "Reserve in answering ARP: 0 for any address of the node, 1 for the interface's own only.",
    "arp_announce": "Reserve in naming a source address in ARP: 0 any, 2 always the interface's own.",
}
OWN, ALL = "/proc/sys/net/ipv4/conf/{}/{}", "/proc/sys/net/ipv4/conf/all/{}"
MARK = f"{HARDWARE}/mtu"


@probe(
    Read(MARK, *(OWN.format("*", leaf) for leaf in LEAVES)),
    gives={
        f"nic.interface/*.{leaf}": integer(f"{help_} In force is the larger of the interface's and of all's.")
        for leaf, help_ in LEAVES.items()
    },
)
def interface_arp(files: Files) -> Facts:
    """Read what is in force on each interface with hardware behind it; one without IPv4 has none."""
    for name in sorted({found[-1] for found in files.found(MARK)}, key=read.natural):
        for leaf in LEAVES:
            own = files.read(OWN.format(name, leaf), read.whole)
            most = files.read(ALL.format(leaf), read.whole)
            both = isinstance(own.reading, int) and isinstance(most.reading, int)
            trouble = most if isinstance(own.reading, int) else own
            told = Sourced(max(own.reading, most.reading), own.source) if both else trouble  # type: ignore[type-var]
            yield f"nic.interface/{spell_key(name)}.{leaf}", told
