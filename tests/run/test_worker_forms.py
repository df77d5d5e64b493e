"""What a worker returns is the tree that it read: the values, their types and their order."""

import math
from typing import Any

import pytest

from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.run.kept_form import difference
from rackcheck.run.worker_forms import BASES, NONE, KindsOfMachines, ReceivedFacts, SentFacts, packed, unpacked

KIND = Kind(Type.TEXT, "help")
ODD: tuple[Any, ...] = (
    True, 1, 1.0, 0.0, -0.0, math.inf, 10**29, "", "\ud800", "\ud800\udc00", "\U00010000", "\0", "é", (), ("a", "\ud800"),
    (1, True, 1.0), Absent(), Absent("no"), Unknown(Reason.DENIED), Unknown(Reason.TIMEOUT, "\udc00"),
)  # fmt: skip


def tree(name: str, *readings: Reading, count: int = 40) -> Tree:
    """A tree with facts that all trees have, and with those of a node."""
    leaves = {f"gpu/{n}.name": Leaf(f"a{n}", KIND, Plane.OS, "file") for n in range(count)}
    leaves |= {f"node.f{n}": Leaf(value, KIND, Plane.BMC, "/redfish") for n, value in enumerate(readings)}
    leaves[f"nic/{name}.name"] = Leaf(name, KIND, Plane.OS, "file")
    return Tree(leaves, {Plane.BURNIN: Unknown(Reason.NOT_COLLECTED, name)}, times={Plane.OS: name}, failed=("probe",))


def same(one: Tree, other: Tree) -> None:
    assert one == other
    assert [*one.leaves] == [*other.leaves]
    assert [(leaf.reading, type(leaf.reading)) for leaf in one.leaves.values()] == [
        (leaf.reading, type(leaf.reading)) for leaf in other.leaves.values()
    ]
    assert repr(one.leaves) == repr(other.leaves)
    assert [(name, [*keys]) for name, keys in one.items.items()] == [
        (name, [*keys]) for name, keys in other.items.items()
    ]
    assert (one.silent, one.times, one.failed) == (other.silent, other.times, other.failed)


def test_odd_facts_come_back_as_they_are_in_full_and_as_differences() -> None:
    sent, received = SentFacts(), ReceivedFacts()
    trees = [tree("a", *ODD), tree("b", *ODD[::-1]), tree("c"), tree("a", *ODD), tree("d", *ODD[5:], *ODD[:5])]
    full = 0
    for each in trees:
        message = sent.message(each)
        full += message[0] == NONE
        same(received.returned(*message).tree(KindsOfMachines()), each)
    assert full < len(trees), "some are differences"


def test_results_can_be_used_in_any_order_and_after_their_base_gave_way() -> None:
    sent, received = SentFacts(), ReceivedFacts()
    near = [tree(f"near{n}") for n in range(3)]
    far = [tree(f"far{n}", *(f"{n}.{m}" for m in range(100)), count=1) for n in range(2 * BASES)]
    trees = [*near, *far]
    results = [received.returned(*sent.message(each)) for each in trees]
    kinds = KindsOfMachines()
    for result, each in [*zip(results, trees, strict=True)][::-1]:
        same(result.tree(kinds), each)
    assert len(kinds._trees) == BASES


def test_a_tree_without_a_form_takes_no_number() -> None:
    """Python writes no number of more than 4,300 digits."""
    sent, received = SentFacts(), ReceivedFacts()
    with pytest.raises(ValueError, match="4300"):
        sent.message(tree("a", (10**5000,), count=1))  # type: ignore[arg-type]
    for each in (tree("b"), tree("c")):
        same(received.returned(*sent.message(each)).tree(KindsOfMachines()), each)


def test_items_in_another_order_than_those_of_the_base_keep_their_order() -> None:
    one = tree("a")
    other = Tree.listed(one.leaves, one.silent, {name: one.items[name] for name in [*one.items][::-1]}, one.times)
    assert difference(one, other) is not None
    sent, received = SentFacts(), ReceivedFacts()
    for each in (one, other):
        same(received.returned(*sent.message(each)).tree(KindsOfMachines()), each)


def test_a_base_that_is_not_known_is_an_error() -> None:
    with pytest.raises(KeyError):
        ReceivedFacts().returned(0, NONE, b"{}")


def test_two_halves_of_a_character_stay_two() -> None:
    assert unpacked(packed(["\ud800\udc00", "\U00010000"])) == ["\ud800\udc00", "\U00010000"]
    assert unpacked(packed("\ud800\udc00")) != "\U00010000"
