"""The switch and port that each network interface is connected to, as the switch reports it (LLDP)."""

from rackcheck import Class, Facts, Reason, Shell, Unknown, collection, integer, probe, spell_key, text
from rackcheck.parse.host.network import lldpctl


@probe(
    Shell("lldpctl -f json", root=True),
    gives={
        "nic.lldp": collection("Network interfaces on which a switch announces itself; unknown without lldpd."),
        "nic.lldp/*.neighbors": integer(
            "Devices that send LLDP to the interface; with several, the cable does not lead directly to one switch."
        ),
        "nic.lldp/*.switch": text("The switch's name.", Class.IDENTITY),
        "nic.lldp/*.switch_id": text("The switch's chassis id, usually its hardware address.", Class.IDENTITY),
        "nic.lldp/*.switch_description": text("The description that the switch sends of itself."),
        "nic.lldp/*.port": text("The switch's port, by its id.", Class.IDENTITY),
        "nic.lldp/*.port_description": text("The switch's description of the port.", Class.IDENTITY),
        "nic.lldp/*.port_mtu": integer("The largest frame that the switch's port accepts, in bytes."),
        "nic.lldp/*.vlan": text("The port's own VLAN."),
    },
)  # fmt: skip
def lldp(answer: str) -> Facts:
    """Read each interface's neighbour; if there are several neighbours, the switch and its port are unknown."""
    for name, several in lldpctl.heard(answer).items():
        item = f"nic.lldp/{spell_key(name)}"
        yield f"{item}.neighbors", len(several)
        unread = Unknown(Reason.UNPARSABLE, f"{len(several)} neighbours send LLDP on this interface, expected 1")
        for leaf in lldpctl.LEAVES:
            yield f"{item}.{leaf}", several[0][leaf] if len(several) == 1 else unread
