"""Host names that two nodes have."""

from dataclasses import replace

from rackcheck.model.fact import Plane, Reading, Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.model.profile import Scope
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.group import FLEET, NodeGroup, Seat, gathered
from rackcheck.probe.registry import registry

LOST = Unknown(Reason.TIMEOUT, "no answer within 10 s")
(GATHERING,) = (each for each in registry().gatherings if each.name == "hostname_fleet")


def repeated(*names: Reading) -> Reading:
    entry = registry().catalogue.find(parse("node.hostname"))
    assert entry is not None
    seats = tuple(Seat(f"n{number}") for number, _ in enumerate(names))
    trees = (Tree({"node.hostname": Leaf(name, entry.kind, Plane.OS, "test")}) for name in names)
    held = {seat.name: GATHERING.distilled(tree) for seat, tree in zip(seats, trees, strict=True)}
    group = NodeGroup(FLEET, Scope.FLEET, seats)
    return gathered(group, [GATHERING], held, "t").leaves["fleet.hostname.repeated"].reading


def test_a_host_name_of_two_nodes_is_named_with_both() -> None:
    assert repeated("dgx-001", "dgx-002", "dgx-001") == ("dgx-001: n0, n2",)
    assert repeated("dgx-001", "dgx-002") == ()


def test_machines_without_a_host_name_have_none_in_common() -> None:
    assert repeated("localhost", "localhost", "(none)", "(none)") == ()


def test_a_node_whose_host_name_is_not_known_might_have_any() -> None:
    assert repeated("dgx-001", LOST) == replace(LOST, detail=f"n1: {LOST.detail}")
    assert repeated("dgx-001", "dgx-001", LOST) == ("dgx-001: n0, n1",)
