"""Which port of which switch each network interface hangs on, as the switch says (LLDP)."""

from rackcheck import Class, Facts, Reason, Shell, Unknown, collection, integer, probe, spell_key, text
from rackcheck.parse.host.network import lldpctl


@probe(
    Shell("lldpctl -f json", root=True),
    gives={
        "nic.lldp": collection("Network interfaces on which a switch has told its name; unknown without lldpd."),
        "nic.lldp/*.neighbors": integer("How many devices speak on this interface: more than one is no plain cable."),
        "nic.lldp/*.switch": text("The switch's name.", Class.IDENTITY),
        "nic.lldp/*.switch_id": text("The switch's chassis id, mostly its hardware address.", Class.IDENTITY),
        "nic.lldp/*.switch_description": text("What the switch says it is."),
        "nic.lldp/*.port": text("The switch's port, by its id.", Class.IDENTITY),
        "nic.lldp/*.port_description": text("What the switch calls the port.", Class.IDENTITY),
        "nic.lldp/*.port_mtu": integer("The largest frame that the switch's port takes, in bytes."),
        "nic.lldp/*.vlan": text("The port's own VLAN."),
    },
)  # fmt: skip
def lldp(answer: str) -> Facts:
    """Read each interface's neighbour; where there are several, none of them is the one."""
    for name, several in lldpctl.heard(answer).items():
        item = f"nic.lldp/{spell_key(name)}"
        yield f"{item}.neighbors", len(several)
        nobody = Unknown(Reason.UNPARSABLE, f"{len(several)} neighbours speak on this interface")
        for leaf in lldpctl.LEAVES:
            yield f"{item}.{leaf}", several[0][leaf] if len(several) == 1 else nobody
