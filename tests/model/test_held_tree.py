"""A held tree has exactly the facts of the tree that it is made from, and shares those of an earlier one."""

from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.model.held_tree import BASES, HeldTrees
from rackcheck.model.tree import Leaf, Tree

KIND = Kind(Type.INTEGER, "")
ONE, OTHER = (Leaf(number, KIND, Plane.OS, "a file") for number in (1, 2))
SILENT = {Plane.BMC: Unknown(Reason.TIMEOUT, "no reply")}

paths = st.sampled_from([f"gpu/{number}.{word}" for number in range(6) for word in ("index", "power")] + ["node.name"])
trees = st.builds(Tree, st.dictionaries(paths, st.sampled_from([ONE, OTHER])), st.sampled_from([{}, SILENT]))


@given(st.lists(trees, max_size=12))
def test_it_has_the_facts_items_and_reasons_of_its_tree(given_trees: list[Tree]) -> None:
    holder = HeldTrees()
    for tree in given_trees:
        held = holder.held(tree)
        assert dict(held.leaves) == tree.leaves
        assert len(held.leaves) == len(tree.leaves)
        assert {name: set(keys) for name, keys in held.items.items()} == {
            name: set(keys) for name, keys in tree.items.items()
        }
        assert all((path in held.leaves) is (path in tree.leaves) for first in given_trees for path in first.leaves)
        assert held.silent == tree.silent


def test_only_what_differs_from_the_first_like_tree_is_held() -> None:
    leaves = {f"gpu/{number}.power": Leaf(number, KIND, Plane.OS, "a tool") for number in range(100)}
    first, second = Tree(leaves), Tree({**leaves, "gpu/7.power": OTHER})
    holder = HeldTrees()
    assert holder.held(first) is first
    held = holder.held(second)
    own = getattr(held.leaves, "own")  # noqa: B009  what takes memory is not public
    assert own == {"gpu/7.power": OTHER}
    assert held.items["gpu"] is first.items["gpu"]


def test_equal_facts_that_are_other_objects_are_not_taken_for_shared_ones() -> None:
    holder = HeldTrees()
    holder.held(Tree({"node.name": ONE}))
    other = Tree({"node.name": Leaf(1, KIND, Plane.OS, "a file")})
    assert holder.held(other) is other


def test_a_hall_of_many_kinds_holds_no_more_bases_than_its_limit() -> None:
    holder = HeldTrees()
    kinds = [Tree({f"gpu/{number}.power": Leaf(number, KIND, Plane.OS, "a tool")}) for number in range(2 * BASES)]
    assert all(holder.held(tree) is tree for tree in kinds)
    like_a_base = [not isinstance(holder.held(Tree(dict(tree.leaves))).leaves, dict) for tree in kinds]
    assert like_a_base == [True] * BASES + [False] * BASES
