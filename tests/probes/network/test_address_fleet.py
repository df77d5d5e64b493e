"""IPv4 addresses that two nodes have."""

from collections.abc import Mapping
from dataclasses import replace

from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.model.profile import Scope
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.group import FLEET, NodeGroup, Seat, gathered
from rackcheck.probe.registry import registry

NO_BOND = Absent("no address")
LOST = Unknown(Reason.TIMEOUT, "no answer within 10 s")
(GATHERING,) = (each for each in registry().gatherings if each.name == "address_fleet")


def repeated(*nodes: Mapping[str, Reading]) -> Reading:
    seats = tuple(Seat(f"n{number}") for number, _ in enumerate(nodes))
    held = {seat.name: GATHERING.distilled(tree(facts)) for seat, facts in zip(seats, nodes, strict=True)}
    return (
        gathered(NodeGroup(FLEET, Scope.FLEET, seats), [GATHERING], held, "t").leaves["fleet.address.repeated"].reading
    )


def tree(facts: Mapping[str, Reading]) -> Tree:
    leaves = {}
    for path, reading in facts.items():
        entry = registry().catalogue.find(parse(path))
        assert entry is not None
        leaves[path] = Leaf(reading, entry.kind, Plane.OS, "test")
    return Tree(leaves)


def node(address: Reading, *, pci: Reading = "0000:18:00.0", bond: Reading = NO_BOND) -> Mapping[str, Reading]:
    return {
        "nic.interface": ("eth0",), "nic.interface/eth0.pci": pci, "nic.interface/eth0.ipv4": address,
        "nic.bond": ("bond0",), "nic.bond/bond0.ipv4": bond,
    }  # fmt: skip


def test_an_address_of_two_nodes_is_named_with_both_whatever_its_prefix_length_is() -> None:
    found = repeated(node(("10.0.0.1/24",)), node(("10.0.0.2/24",)), node(("10.0.0.1/16",)))
    assert found == ("10.0.0.1: n0 eth0, n2 eth0",)
    assert repeated(node(()), node((), bond=("10.0.0.7/24",)), node(("10.0.0.7/24",))) == (
        "10.0.0.7: n1 bond0, n2 eth0",
    )


def test_addresses_of_containers_bridges_and_of_one_link_may_repeat() -> None:
    bridge = node(("172.17.0.1/16",), pci=Absent("no PCI device"))
    assert repeated(bridge, bridge) == ()
    assert repeated(node(("169.254.0.1/16",)), node(("169.254.0.1/16",))) == ()


def test_a_node_whose_addresses_are_not_known_might_have_any() -> None:
    assert repeated(node(("10.0.0.1/24",)), node(LOST)) == replace(LOST, detail=f"n1: {LOST.detail}")
    assert repeated(node(("10.0.0.1/24",)), node(("10.0.0.1/24",)), node(LOST)) == ("10.0.0.1: n0 eth0, n1 eth0",)
