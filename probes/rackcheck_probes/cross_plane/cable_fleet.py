"""Cables in the wrong port: they lead to the switch to which most nodes of the rack connect another interface."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rackcheck import Facts, Inputs, Member, Scope, Unknown, gathering, listing, spell_key

LLDP = "nic.lldp"
SHARE, FEWEST = 0.75, 3
"""Minimum share and minimum number of a rack's nodes that must connect an interface to the same switch."""

Cables = tuple[tuple[str, str], ...]
"""Pairs of an interface and the switch at its other end."""


def cables(inputs: Inputs) -> tuple[Cables, Unknown | None]:
    """Return a node's cables, and why some may be missing."""
    names, lost = inputs.items(LLDP)
    found = list[tuple[str, str]]()
    for name in names:
        switch = inputs.reading(f"{LLDP}/{spell_key(name)}.switch")
        lost = lost or (switch if isinstance(switch, Unknown) else None)
        found += [(name, switch)] if isinstance(switch, str) else []
    return tuple(found), lost


@gathering(
    Scope.FLEET,
    needs=(LLDP, f"{LLDP}/*.switch"),
    gives={
        "fleet.cables.misplaced": listing(
            "Cables that lead to the switch to which most nodes of the rack connect another interface."
        )
    },
    distil=cables,
)
def cable_fleet(members: Sequence[Member]) -> Facts:
    """Find such cables in each rack; a cable to a switch to which most nodes connect no interface is left out."""
    racks: dict[str, dict[str, Mapping[str, str]]] = {}
    lost: Unknown | None = None
    for member in members:
        found, missing = member.listed()
        lost = lost or missing
        racks.setdefault(member.seat.rack, {})[member.seat.name] = dict(found)
    misplaced = tuple(text for _, nodes in sorted(racks.items()) for text in _misplaced(nodes))
    yield "fleet.cables.misplaced", misplaced if misplaced or lost is None else lost


def _misplaced(nodes: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    counts: dict[str, Counter[str]] = {}
    for own in nodes.values():
        for interface, switch in own.items():
            counts.setdefault(interface, Counter())[switch] += 1
    most = {
        interface: switch
        for interface, switches in counts.items()
        for switch, count in switches.most_common(1)
        if count >= max(FEWEST, SHARE * len(nodes))
    }
    for node, own in sorted(nodes.items()):
        for interface, usual in sorted(most.items()):
            switch = own.get(interface, usual)
            if switch != usual and switch in most.values():
                yield f"{node} {interface} at {switch}, on most nodes at {usual}"
