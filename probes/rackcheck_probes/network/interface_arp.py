"""Which interface answers for which address: what several rails in one network need."""

from rackcheck import Facts, Files, Read, integer, probe, spell_key
from rackcheck.model import text as read
from rackcheck.model.fact import Sourced
from rackcheck.model.text.values import whole
from rackcheck_probes.network.interfaces import HARDWARE

# Settings of IPv4 of each interface, and of all: /proc/sys/net/ipv4/conf (Documentation/networking/ip-sysctl).
#
# Of those here the larger of the interface's own and of all's is in force.

PLACE = "/proc/sys/net/ipv4/conf/{}/{}"

LARGER = {
    "rp_filter": "Check of a packet's source: 0 none, 1 strict, 2 loose.",
    "arp_ignore": "Reserve in answering ARP: 0 for any address of the node, 1 for the interface's own only.",
    "arp_announce": "Reserve in naming a source address in ARP: 0 any, 2 always the interface's own.",
}
"""The settings, with what each means."""


def in_force(files: Files, interface: str, setting: str) -> Sourced:
    """Give what is in force on an interface; one without IPv4 has no settings, and where all's is not known none is."""
    own, of_all = (files.read(PLACE.format(name, setting), whole) for name in (interface, "all"))
    if not isinstance(own.reading, int):
        return own
    if not isinstance(of_all.reading, int):
        return of_all
    return Sourced(max(own.reading, of_all.reading), own.source)


MARK = f"{HARDWARE}/mtu"


@probe(
    Read(MARK, *(PLACE.format("*", leaf) for leaf in LARGER)),
    gives={
        f"nic.interface/*.{leaf}": integer(f"{help_} In force is the larger of the interface's and of all's.")
        for leaf, help_ in LARGER.items()
    },
)
def interface_arp(files: Files) -> Facts:
    """Read what is in force on each interface with hardware behind it; one without IPv4 has none."""
    for name in sorted({found[-1] for found in files.found(MARK)}, key=read.natural):
        for leaf in LARGER:
            yield f"nic.interface/{spell_key(name)}.{leaf}", in_force(files, name, leaf)
