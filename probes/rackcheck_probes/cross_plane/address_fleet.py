"""IPv4 addresses that two nodes have: packets for such an address arrive at either node."""

from collections.abc import Iterator, Sequence

from rackcheck import Facts, Inputs, Member, Scope, Unknown, gathering, listing, spell_key
from rackcheck.model.fact import Absent, Reading

INTERFACE, BOND = "nic.interface", "nic.bond"
ON_LINK = ("127.", "169.254.")
"""Beginnings of addresses that are valid on one link only, and may repeat."""


def addresses(inputs: Inputs) -> tuple[tuple[tuple[str, str], ...], Unknown | None]:
    """Return pairs of an interface and its IPv4 address, and why some may be missing.

    Only bonds and interfaces of PCI devices count: the bridges of containers have the same addresses on every node.
    """
    found = list[tuple[str, str]]()
    lost = inputs.items(INTERFACE)[1] or inputs.items(BOND)[1]
    for name in inputs.items(INTERFACE)[0]:
        item = f"{INTERFACE}/{spell_key(name)}"
        device = inputs.reading(f"{item}.pci")
        if not isinstance(device, Absent):
            reading = inputs.reading(f"{item}.ipv4")
            lost = lost or next((each for each in (device, reading) if isinstance(each, Unknown)), None)
            found += [(name, address) for address in _given(reading)]
    for name in inputs.items(BOND)[0]:
        reading = inputs.reading(f"{BOND}/{spell_key(name)}.ipv4")
        lost = lost or (reading if isinstance(reading, Unknown) else None)
        found += [(name, address) for address in _given(reading)]
    return tuple(found), lost


def _given(reading: Reading) -> Iterator[str]:
    for address in reading if isinstance(reading, tuple) else ():
        plain = address.partition("/")[0]
        if not plain.startswith(ON_LINK):
            yield plain


@gathering(
    Scope.FLEET,
    needs=(INTERFACE, f"{INTERFACE}/*.pci", f"{INTERFACE}/*.ipv4", BOND, f"{BOND}/*.ipv4"),
    gives={"fleet.address.repeated": listing("IPv4 addresses that two nodes have, with the nodes and interfaces.")},
    distil=addresses,
)
def address_fleet(members: Sequence[Member]) -> Facts:
    """Find IPv4 addresses that interfaces of two nodes have."""
    owners: dict[str, dict[str, str]] = {}
    lost: Unknown | None = None
    for member in members:
        found, missing = member.listed()
        lost = lost or missing
        for interface, address in found:
            owners.setdefault(address, {}).setdefault(member.seat.name, interface)
    repeated = tuple(
        f"{address}: {', '.join(f'{node} {interface}' for node, interface in sorted(nodes.items()))}"
        for address, nodes in sorted(owners.items())
        if len(nodes) > 1
    )
    yield "fleet.address.repeated", repeated if repeated or lost is None else lost
