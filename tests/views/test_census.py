"""The census: which nodes have which value is counted exactly, in any order; unknown values never count as alike."""

from collections.abc import Mapping
from dataclasses import replace

from censuses import DENIED, GONE, VALUES, Facts, census, many, tree
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.fold import fold
from rackcheck.model.tree import Leaf, Tree
from rackcheck.views.census import Census
from rackcheck.views.items import folded, folded_paths


def test_a_value_is_listed_with_the_nodes_that_have_it() -> None:
    found = census(many(["NPS4", "NPS1", "NPS4"]))
    assert found.values("bios.nps") == {"NPS4": ("n0", "n2"), "NPS1": ("n1",)}
    assert found.nodes("bios.nps", "NPS1") == ("n1",)
    assert found.nodes("bios.nps", "NPS2") == () == found.nodes("bios.smt", "on")


def test_unknowns_of_one_reason_are_one_and_no_value_whatever_their_details() -> None:
    found = census(many([DENIED, Unknown(Reason.DENIED, "10.0.0.2"), Unknown(Reason.TIMEOUT), GONE, Absent()]))
    assert found.values("bios.nps") == {
        Unknown(Reason.DENIED): ("n0", "n1"), Unknown(Reason.TIMEOUT): ("n2",), Absent(): ("n3", "n4"),
    }  # fmt: skip
    assert found.names(found.known("bios.nps")) == ("n3", "n4")


def test_a_setting_is_the_same_number_however_it_is_spelled() -> None:
    assert set(census(many(["60", "060", " 60 "], "sysctl.vm.swappiness")).values("sysctl.vm.swappiness")) == {"60"}


def test_counters_are_not_counted_nor_are_collections_of_nothing_else() -> None:
    facts: Facts = {"log.xid": ("79",), "log.xid/79.count": 3, "gpu": ("0",), "gpu/0.vbios": "96.1"}
    assert sorted(census({"n0": facts}).facts()) == ["gpu", "gpu/0.vbios"]


def test_a_majority_is_more_than_half_of_all_that_were_read_the_silent_ones_too() -> None:
    alike = census(many(["NPS4", "NPS4", "NPS4", "NPS1", DENIED])).majority("bios.nps", "compute")
    assert alike is not None
    assert (alike.value, alike.count, alike.known, alike.of, alike.share) == ("NPS4", 3, 4, 5, 0.6)
    assert census(many(["NPS4", "NPS4", "NPS4", "NPS1", DENIED, DENIED])).majority("bios.nps", "compute") is None


def test_two_nodes_and_two_that_are_known_have_no_majority() -> None:
    assert census(many(["NPS4", "NPS4"])).majority("bios.nps", "compute") is None
    assert census(many(["NPS4", "NPS4", DENIED])).majority("bios.nps", "compute") is None
    assert census(many([GONE, GONE, GONE])).majority("bios.nps", "compute") is not None


def test_a_node_without_the_value_deviates_from_none() -> None:
    found = census(many(["NPS4", "NPS4", "NPS4", "NPS1", DENIED]))
    assert found.deviants("bios.nps", "compute") == {"NPS1": ("n3",)}


def test_another_role_does_not_vote() -> None:
    found = census(many(["NPS4"] * 3))
    for name in ("s1", "s2", "s3", "s4"):
        found.take(name, "switch", tree({"bios.nps": "NPS1"}), {})
    voted = [found.majority("bios.nps", role) for role in ("compute", "switch")]
    assert [each.value for each in voted if each is not None] == ["NPS4", "NPS1"]


def test_an_item_that_a_whole_collection_does_not_hold_is_not_there() -> None:
    whole: Facts = {"gpu": ("0", "1"), "gpu/0.vbios": "96.1", "gpu/1.vbios": "96.1"}
    found = census({"n0": whole, "n1": {"gpu": ("0",), "gpu/0.vbios": "96.1"}, "n2": {"gpu": DENIED}})
    assert found.names(found.without("gpu/1.vbios")) == ("n1",)


def test_a_node_that_is_read_again_on_one_plane_keeps_the_facts_of_the_other() -> None:
    found = census({"n0": {"bios.nps": "NPS1", "firmware.bios": "1.0"}})
    found.take("n0", "compute", tree({"node.product": "X"}, Plane.BMC), {}, frozenset({Plane.BMC}))
    assert found.nodes("bios.nps", "NPS1") == ("n0",)
    found.take("n0", "compute", tree({"bios.nps": "NPS4"}), {}, frozenset({Plane.OS}))
    assert found.values("bios.nps") == {"NPS4": ("n0",)}
    assert found.values("firmware.bios") == {}
    assert found.nodes("node.product", "X") == ("n0",)


@given(st.lists(st.tuples(st.integers(0, 70), VALUES), max_size=120))
def test_a_nodes_earlier_facts_leave_no_trace(text: list[tuple[int, Reading]]) -> None:
    found = Census()
    for node, value in text:
        found.take(f"n{node}", "compute", tree({"bios.nps": value}), {"rack": f"r{node % 3}"})
    last = {f"n{node}": {"bios.nps": value} for node, value in text}
    fresh = census(last)
    assert found.values("bios.nps") == fresh.values("bios.nps")
    assert {node for names in found.values("bios.nps").values() for node in names} == set(last)
    held, other = found.majority("bios.nps", "compute"), fresh.majority("bios.nps", "compute")
    assert held == other


@given(st.lists(VALUES, min_size=1, max_size=12), st.data())
def test_taking_knowledge_away_never_gives_another_majority(values: list[Reading], data: st.DataObject) -> None:
    before = census(many(values)).majority("bios.nps", "compute")
    hidden = [DENIED if data.draw(st.booleans()) else value for value in values]
    after = census(many(hidden)).majority("bios.nps", "compute")
    assert after is None or (before is not None and after.value == before.value)


def test_paths_that_differ_in_one_key_are_one() -> None:
    paths = ["gpu/0.vbios", "gpu/1.vbios", "nic/mlx5_0.port/1.rate", 'pcie/"0000:17:00.0".x', 'pcie/"0000:17:00.1".x']
    assert folded(paths) == ("gpu/[0-1].vbios", "nic/mlx5_0.port/1.rate", 'pcie/"0000:17:00.[0-1]".x')
    assert folded(["a.b"]) == ("a.b",)
    assert fold(["0", "1"]) == "[0-1]"


SHARED: Mapping[str, Mapping[Reading, Leaf]] = {path: {value: tree({path: value}).leaves[path] for value in ("a", "b", DENIED, GONE, *others)} for path, others in {
    "bios.nps": ("NPS4",), "firmware.bios": ("1.0",), "node.serial": ("S1", "S2"), "gpu/0.vbios": (), "gpu/1.vbios": (),
    "sysctl.vm.swappiness": ("60", "060"), "log.xid/79.count": (3,),
}.items()}  # fmt: skip
"""Facts that are one object on all nodes that have them."""

TAKEN = st.tuples(
    st.integers(0, 6),
    st.fixed_dictionaries({}, optional={path: st.sampled_from(list(some)) for path, some in SHARED.items()}),
    st.sampled_from([None, frozenset({Plane.OS}), frozenset({Plane.BMC})]),
    st.booleans(),
)


@given(st.lists(TAKEN, max_size=40))
def test_facts_that_are_one_object_on_many_nodes_are_counted_as_if_each_node_had_its_own(
    taken: list[tuple[int, dict[str, Reading], frozenset[Plane] | None, bool]],
) -> None:
    shared, own = Census(), Census()
    for number, facts, planes, asked in taken:
        for found, leaves in (
            (shared, {path: SHARED[path][value] for path, value in facts.items()}),
            (own, {path: replace(SHARED[path][value]) for path, value in facts.items()}),
        ):
            found.take(f"n{number}", "compute", Tree(leaves), {}, planes)
        if asked:
            assert counted(shared) == counted(own)
    assert counted(shared) == counted(own)


def counted(found: Census) -> object:
    paths = list(found.facts())
    return [(path, list(found.values(path).items()), found.deviants(path, "compute")) for path in paths]


def test_combined_paths_with_many_keys_have_a_star_for_them() -> None:
    odd = [f"gpu/{number}.vbios" for number in range(1, 90, 2)]
    spelt = [f'nic.adapter/"0000:{number:02x}:00.0".module.part' for number in range(20)]
    assert folded_paths(["gpu/0.vbios", "gpu/1.vbios"], 3) == "gpu/[0-1].vbios"
    assert folded_paths([*odd, *spelt], 3) == "gpu/*.vbios, nic.adapter/*.module.part"
