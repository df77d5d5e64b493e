"""The odd one out: named with its value and the others' value, and never where values are unknown."""

from censuses import DENIED, GONE, VALUES, Facts, census, many
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Reading
from rackcheck.views.odd import odd, peers


def test_the_node_with_another_value_is_odd_and_its_peers_are_counted() -> None:
    (one,) = odd(census(many(["NPS4", "NPS4", "NPS1", "NPS4"])))
    assert (one.node, one.role, one.score, one.unknown) == ("n2", "compute", 1.0, 0)
    assert [each.text for each in one.deviations] == ["bios.nps is NPS1, 3 of 4 have NPS4"]


def test_none_of_two_nodes_is_odd_and_the_reason_is_stated() -> None:
    (two,) = peers(census(many(["NPS4", "NPS1"])))
    assert not two.odd
    assert two.why == "2 nodes; at least 3 must be known to find outliers"


def test_none_is_odd_without_a_majority_and_its_absence_is_stated() -> None:
    (split,) = peers(census(many(["NPS4", "NPS4", "NPS1", "NPS1"])))
    assert (split.odd, split.split, split.agreed, split.unknown) == ((), 1, 0, 0)
    assert split.why


def test_a_node_without_the_value_is_not_odd_and_listed_apart() -> None:
    (found,) = peers(census(many(["NPS4", "NPS4", "NPS4", DENIED])))
    assert not found.odd
    assert found.silent == (("n3", 1),)


def test_a_fact_with_too_few_values_for_a_majority_is_counted_as_such() -> None:
    (found,) = peers(census(many(["NPS4", "NPS4", DENIED, DENIED])))
    assert (found.odd, found.agreed, found.split, found.unknown) == ((), 0, 0, 1)


def test_a_node_without_what_the_others_have_is_odd() -> None:
    (one,) = odd(census(many(["NPS4", "NPS4", "NPS4", GONE])))
    assert [each.text for each in one.deviations] == ["bios.nps is absent, 3 of 4 have NPS4"]


def test_a_missing_item_is_reported_once_and_not_for_each_of_its_facts() -> None:
    whole: Facts = {"gpu": ("0", "1"), "gpu/0.vbios": "96.1", "gpu/1.vbios": "96.1"}
    (one,) = odd(census({"n0": whole, "n1": whole, "n2": whole, "n3": {"gpu": ("0",), "gpu/0.vbios": "96.1"}}))
    assert [each.text for each in one.deviations] == ["gpu lacks 1, 3 of 4 have [0-1]"]
    assert one.unknown == 0


def test_items_that_deviate_alike_are_one_and_weigh_as_one() -> None:
    def gpus(version: str) -> Facts:
        return {f"gpu/{number}.vbios": version for number in range(8)}

    (one,) = odd(census({"n0": gpus("96.1"), "n1": gpus("96.1"), "n2": gpus("96.0")}))
    assert [each.text for each in one.deviations] == ["gpu/[0-7].vbios is 96.0, 2 of 3 have 96.1"]
    assert one.score == 1.0


def test_a_fact_on_which_one_node_alone_differs_counts_more_than_one_on_which_many_do() -> None:
    nodes = {name: {**facts, "firmware.bios": "1.5"} for name, facts in many(["NPS1"] * 4 + ["NPS4"] * 6).items()}
    nodes["n9"]["firmware.bios"] = "1.4"
    found = odd(census(nodes))
    assert [(one.node, one.score) for one in found] == [("n9", 1.0), *((f"n{n}", 0.25) for n in range(4))]


def test_nodes_that_deviate_alike_are_reported_together() -> None:
    (found,) = peers(census(many(["NPS4", "NPS1", "NPS4", "NPS1", "NPS4"])))
    assert [(each.nodes, each.text) for each in found.deviations] == [
        (("n1", "n3"), "bios.nps is NPS1, 3 of 5 have NPS4")
    ]


def test_serials_make_no_node_odd() -> None:
    assert odd(census(many(["a", "a", "a", "b"], "node.serial"))) == ()


@given(st.lists(VALUES, min_size=1, max_size=10), st.data())
def test_removing_values_makes_no_node_odd(values: list[Reading], data: st.DataObject) -> None:
    hidden = [DENIED if data.draw(st.booleans()) else value for value in values]
    before = {one.node for one in odd(census(many(values)))}
    assert {one.node for one in odd(census(many(hidden)))} <= before
