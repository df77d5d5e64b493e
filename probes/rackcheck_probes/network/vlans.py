"""VLAN interfaces: the tag and the parent interface of each."""

from rackcheck import Facts, Shell, collection, integer, probe, read, spell_key, text
from rackcheck.parse.host.network import iproute


@probe(
    Shell("ip -d -o link show type vlan", cap=4 << 20, quick=True),
    gives={
        "nic.vlan": collection("VLAN interfaces by name."),
        "nic.vlan/*.id": integer("The tag."),
        "nic.vlan/*.on": text("The interface that carries the tagged packets."),
        "nic.vlan/*.protocol": text("How the tag is written: 802.1Q, 802.1ad."),
        "nic.vlan/*.mtu": integer("The largest packet that the interface sends, in bytes."),
        "nic.vlan/*.state": text("Whether the interface passes packets: UP, DOWN, LOWERLAYERDOWN."),
    },
)
def vlans(answer: str) -> Facts:
    """Read each VLAN interface; `ip` writes nothing if there is none."""
    for row in read.rows(answer):
        vlan = iproute.vlan(row)
        item = f"nic.vlan/{spell_key(vlan.name)}"
        yield f"{item}.id", vlan.tag
        yield f"{item}.on", vlan.below
        yield f"{item}.protocol", vlan.protocol
        yield f"{item}.mtu", vlan.mtu
        yield f"{item}.state", vlan.state
