"""The link of each bond."""

from rackcheck import Facts, Files, Read, integer, probe, quantity, read, spell_key, text
from rackcheck.parse.host.network import net_class

PLACE = "/sys/class/net/{}/bonding/../{}"
"""Template of the path to a bond's file: only bonds have a folder `bonding`, so globs of this path match only bonds."""


@probe(
    Read(*(PLACE.format("*", name) for name in ("mtu", "operstate", "speed"))),
    gives={
        "nic.bond/*.mtu": integer("The largest packet the bond sends, in bytes."),
        "nic.bond/*.link": text("Whether the bond can pass packets: up, down."),
        "nic.bond/*.speed": quantity("Gb/s", "The total speed of the active members."),
    },
)
def bond_links(files: Files) -> Facts:
    """Read each bond's link."""
    for (name,) in files.found(PLACE.format("*", "mtu")):
        item = f"nic.bond/{spell_key(name)}"
        yield f"{item}.mtu", files.read(PLACE.format(name, "mtu"), read.whole)
        yield f"{item}.link", files.read(PLACE.format(name, "operstate"))
        yield f"{item}.speed", net_class.speed(files, PLACE.format(name, "speed"))
