"""Which ARP requests each interface answers, which is important if several rails are in one network."""

from rackcheck import Facts, Files, Read, integer, probe, read, spell_key
from rackcheck.model.fact import Sourced
from rackcheck.model.text.values import whole
from rackcheck_probes.network.interfaces import HARDWARE

# IPv4 settings of each interface, and of `all`: /proc/sys/net/ipv4/conf (Documentation/networking/ip-sysctl).
#
# For the settings here, the larger of the interface's own value and the value of `all` is in force.

PLACE = "/proc/sys/net/ipv4/conf/{}/{}"

LARGER = {
    "rp_filter": "Check of a packet's source: 0 none, 1 strict, 2 loose.",
    "arp_ignore": "Restriction of ARP replies: 0 for any address of the node, 1 for the interface's own only.",
    "arp_announce": "Restriction of source addresses in ARP: 0 any, 2 always the interface's own.",
}
"""IPv4 settings and their meanings; the larger of an interface's own value and the value of `all` is in force."""


def in_force(files: Files, interface: str, setting: str) -> Sourced:
    """Return the larger of an interface's value and the value of `all`; absent or unknown if one of the two is."""
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
        f"nic.interface/*.{leaf}": integer(
            f"{help_} The effective value: the larger of the interface's own and that of `all`."
        )
        for leaf, help_ in LARGER.items()
    },
)
def interface_arp(files: Files) -> Facts:
    """Read the effective values of each interface that has a device; an interface without IPv4 has no values."""
    for name in sorted({found[-1] for found in files.found(MARK)}, key=read.natural):
        for leaf in LARGER:
            yield f"nic.interface/{spell_key(name)}.{leaf}", in_force(files, name, leaf)
