"""Facts in a run's events: what is written as a difference from another node is read as if it were written in full."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Class, Plane, Reading, Reason, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.run.event import facts_json
from rackcheck.run.index.fact_parts import FactsReader
from rackcheck.run.index.parts import canonical
from rackcheck.run.stored_facts import BASES, FactsWriter

EVERY = tuple(Class)
READINGS: st.SearchStrategy[Reading] = st.one_of(
    st.sampled_from([True, 1, 1.0, False, 0, "1", "", (), ("a",), Absent(), Absent("no file"), float("inf")]),
    st.builds(Unknown, st.sampled_from(Reason), st.sampled_from(["", "denied"])),
)
KINDS = [Kind(Type.INTEGER, unit, cls=cls) for unit in ("", "W") for cls in (Class.CONFIG, Class.VERSION)]
LEAVES = st.builds(Leaf, READINGS, st.sampled_from(KINDS), st.sampled_from([Plane.OS, Plane.BMC]), st.text(max_size=3))
TREES = st.dictionaries(st.sampled_from([f"fan/{n}.speed" for n in range(12)]), LEAVES, max_size=12).map(Tree)


def read(docs: list[dict[str, Any]]) -> list[dict[Class, bytes]]:
    """The facts of each event, in canonical form."""
    reader = FactsReader(EVERY)
    found = [reader.parts(json.loads(json.dumps(doc)), {}) for doc in docs]
    for part in (part for parts in found for part in parts.values()):
        assert part.as_dict() == dict(part.docs)
        assert part.text == canonical(part.as_dict())
    return [{cls: part.text for cls, part in parts.items()} for parts in found]


def in_full(nodes: list[Tree]) -> list[dict[str, Any]]:
    """The events of an earlier version, which have all facts of each node, with source and time."""
    return [{"event": "facts", "node": f"n{n}", "facts": facts_json(tree)} for n, tree in enumerate(nodes)]


def written(nodes: list[Tree]) -> list[dict[str, Any]]:
    writer = FactsWriter()
    return [writer.doc(f"n{n}", tree) for n, tree in enumerate(nodes)]


@given(st.lists(TREES, max_size=6))
def test_a_difference_is_read_as_all_facts_of_the_node(nodes: list[Tree]) -> None:
    assert read(written(nodes)) == read(in_full(nodes))


def leaf(reading: Reading, cls: Class = Class.CONFIG) -> Leaf:
    return Leaf(reading, Kind(Type.INTEGER, "", cls=cls), Plane.OS, "/x")


def machine(**other: Leaf) -> Tree:
    return Tree(
        {**{f"fan/{n}.speed": leaf(n) for n in range(40)}, **{f"fan/0.{name}": each for name, each in other.items()}}
    )


def test_an_equal_node_costs_no_fact_and_shares_its_parts() -> None:
    first, second = written([machine(), machine()])
    assert (second["like"], second["set"], second["gone"]) == ("n0", {}, [])
    reader = FactsReader(EVERY)
    reader.parts(first, {})
    one, two = reader.parts(second, {}), reader.parts(second, {})
    assert all(one[cls] is two[cls] for cls in EVERY)


@pytest.mark.parametrize("other", [leaf(True), leaf(1.0), leaf(1, Class.VERSION), leaf(2)])
def test_what_python_calls_equal_and_is_stored_otherwise_is_a_difference(other: Leaf) -> None:
    nodes = [machine(speed=leaf(1)), machine(speed=other)]
    assert list(written(nodes)[1]["set"]) == ["fan/0.speed"]
    assert read(written(nodes)) == read(in_full(nodes))


def test_another_kind_of_machine_is_written_in_full_and_only_some_kinds_are_kept() -> None:
    kinds = [Tree({f"k{kind}/{n}.speed": leaf(n) for n in range(9)}) for kind in range(BASES + 2)]
    docs = written([*kinds, *kinds])
    assert ["like" in doc for doc in docs] == [False] * (BASES + 2) + [True] * BASES + [False] * 2
    assert read(docs) == read(in_full([*kinds, *kinds]))


@pytest.mark.parametrize(
    "change",
    [{"like": "n7"}, {"like": 1}, {"like": None}, {"set": []}, {"gone": "x"}, {"gone": [1]}, {"set": {"a b": {}}}],
)
def test_a_damaged_difference_is_an_error(change: dict[str, Any]) -> None:
    first, second = written([machine(), machine(speed=leaf(7))])
    reader = FactsReader(EVERY)
    reader.parts(first, {})
    with pytest.raises((KeyError, TypeError, ValueError)):
        reader.parts(second | change, {})
