"""VLAN interfaces: which tag on which interface."""

import re

from rackcheck import Facts, Shell, Unreadable, collection, integer, probe, spell_key, text
from rackcheck.core import read

ROW = re.compile(
    r"[0-9]{1,9}: ([^\s@:]{1,15})@([^\s@:]{1,15}): <[^>]{0,200}> mtu ([0-9]{1,6}) [^\n]{0,400}?state ([A-Z]{1,20}) "
    r"[^\n]{0,600}? vlan protocol (802\.1[a-zA-Z]{1,2}) id ([0-9]{1,4})[^\n]{0,600}"
)


@probe(
    Shell("ip -d -o link show type vlan", cap=4 << 20, quick=True),
    gives={
        "nic.vlan": collection("VLAN interfaces by name."),
        "nic.vlan/*.id": integer("The tag."),
        "nic.vlan/*.on": text("The interface that carries the tagged packets."),
        "nic.vlan/*.protocol": text("How the tag is written: 802.1Q, 802.1ad."),
        "nic.vlan/*.mtu": integer("The largest packet it sends, in bytes."),
        "nic.vlan/*.state": text("Whether it can pass packets: UP, DOWN, LOWERLAYERDOWN."),
    },
)
def vlans(answer: str) -> Facts:
    """Read each VLAN; without one `ip` writes nothing."""
    for row in read.rows(answer):
        match = ROW.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a VLAN: {row[:80]!r}")
        name, below, mtu, state, protocol, tag = match.groups()
        item = f"nic.vlan/{spell_key(name)}"
        yield f"{item}.id", int(tag)
        yield f"{item}.on", below
        yield f"{item}.protocol", protocol
        yield f"{item}.mtu", int(mtu)
        yield f"{item}.state", state
