"""Facts of a rack: a rack of GB200 as a whole, and the effect of one tray that does not answer or differs."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged_racks import GONE, ROW, _leaf, judged, nodes
from nvl72 import LEAKING, Leaves, absent, altered, rack, tray
from trees import GB200, tree_leaves

from rackcheck.inventory import Node
from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.fact import Plane, Reading, Reason, Unknown
from rackcheck.model.profile import Profile, Scope
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.group import NodeGroup, Seat, gathered, groups
from rackcheck.probe.registry import registry
from rackcheck.profile import library

RULES = ("rack.gpus", "rack.one_domain", "rack.no_leak", "rack.vbios_alike", "rack.bmc_alike")
"""Rules of gb200-nvl72 about facts that recorded trays report."""


@pytest.fixture(scope="module")
def profile() -> Profile:
    return library.load("gb200-nvl72", registry().catalogue)


def of_rack(profile: Profile, nodes: Mapping[Node, Leaves | Tree], name: str = "a01") -> dict[str, Verdict]:
    return judged(profile, nodes)[f"@rack:{name}"]


def odd(nodes: Mapping[Node, Leaves], name: str, leaves: Leaves | Tree) -> dict[Node, Leaves | Tree]:
    """The same rack, with other facts on one node."""
    assert any(node.name == name for node in nodes)
    return {node: leaves if node.name == name else held for node, held in nodes.items()}


def all_gpus(leaf: str, reading: Reading) -> dict[str, Leaf]:
    """A tray all of whose GPUs return this value."""
    leaves = dict(tray())
    for number in range(4):
        leaves = altered(leaves, f"gpu/{number}.{leaf}", reading)
    return leaves


# ---- the rack, and what goes wrong in it -----------------------------------------------------------------------------


def test_a_rack_in_order_has_72_gpus_in_one_domain_and_no_leak(profile: Profile) -> None:
    found = of_rack(profile, rack())
    assert {rule: found[rule].status for rule in RULES} == dict.fromkeys(RULES, Status.PASS)


def test_a_bios_that_no_tray_reports_is_unknown_and_fails_nothing(profile: Profile) -> None:
    assert of_rack(profile, rack())["rack.bios_alike"].status is Status.PASS
    unread = altered(tray(), "firmware.bios", Unknown(Reason.NOT_COLLECTED, "no BIOS is listed"))
    silent = {node: unread if node.role == "compute" else held for node, held in rack().items()}
    found = of_rack(profile, silent)["rack.bios_alike"]
    assert found.status is Status.UNKNOWN
    assert found.reason.startswith("rack.alike.bios unknown (not collected: a01-tray01: no BIOS is listed")
    other = of_rack(profile, odd(rack(), "a01-tray07", altered(tray(), "firmware.bios", "02.03.12")))
    assert other["rack.bios_alike"].status is not Status.PASS


def test_a_tray_that_is_silent_makes_unknown_what_it_might_change_and_is_named(profile: Profile) -> None:
    silent = Tree({}, {Plane.OS: GONE, Plane.BMC: GONE})
    found = of_rack(profile, odd(rack(), "a01-tray07", silent))
    for rule in RULES:
        assert found[rule].status is Status.UNKNOWN
        assert found[rule].reason.count("a01-tray07") == 1, found[rule].reason
        assert "connection refused" in found[rule].reason


def test_a_tray_whose_operating_system_is_silent_hides_its_gpus_and_not_its_leaks(profile: Profile) -> None:
    found = of_rack(profile, odd(rack(), "a01-tray07", Tree({**tree_leaves(GB200), **_dry()}, {Plane.OS: GONE})))
    assert {rule for rule in RULES if found[rule].status is Status.UNKNOWN} == {
        "rack.gpus", "rack.one_domain", "rack.vbios_alike"
    }  # fmt: skip
    assert found["rack.no_leak"].status is Status.PASS


def _dry() -> dict[str, Leaf]:
    return {path: leaf for path, leaf in tray().items() if path.startswith("leak/")}


def test_a_gpu_that_is_missing_is_counted(profile: Profile) -> None:
    three = {path: leaf for path, leaf in tray().items() if not path.startswith("gpu/3.")}
    found = of_rack(profile, odd(rack(), "a01-tray07", altered(three, "gpu", ("0", "1", "2"))))
    assert found["rack.gpus"].status is Status.FAIL
    assert found["rack.gpus"].reason == "rack.gpu_count is 71, must be 72"


def test_two_cliques_are_two_domains(profile: Profile) -> None:
    found = of_rack(profile, odd(rack(), "a01-tray07", all_gpus("fabric.clique", 3)))["rack.one_domain"]
    assert (found.status, found.reason) == (Status.FAIL, "rack.nvlink_domains is 2, must be 1")


def test_trays_that_are_each_alone_are_separate_domains_despite_equal_zeros(profile: Profile) -> None:
    nodes: dict[Node, Leaves | Tree] = dict(rack())
    alone = altered_all("fabric.cluster", "00000000-0000-0000-0000-000000000000", "fabric.clique", 0)
    for name in ("a01-tray07", "a01-tray08"):
        nodes = {node: alone if node.name == name else held for node, held in nodes.items()}
    found = of_rack(profile, nodes)["rack.one_domain"]
    assert found.reason == "rack.nvlink_domains is 3, must be 1"


def altered_all(leaf: str, reading: Reading, other: str, second: Reading) -> dict[str, Leaf]:
    leaves = all_gpus(leaf, reading)
    for number in range(4):
        leaves = altered(leaves, f"gpu/{number}.{other}", second)
    return leaves


def test_a_gpu_of_no_domain_is_no_domain_of_its_own_and_fails_its_tray(profile: Profile) -> None:
    nodes = rack()
    out = absent(absent(absent(tray(), "gpu/2.fabric.cluster"), "gpu/2.fabric.clique"), "gpu/2.fabric.state")
    found = judged(profile, odd(nodes, "a01-tray07", out))
    assert found["@rack:a01"]["rack.one_domain"].status is Status.PASS
    assert found["a01-tray07"]["fabric.joined"].status is Status.FAIL


def test_a_leak_fails_the_rack_whatever_tray_it_is_of(profile: Profile) -> None:
    found = of_rack(profile, odd(rack(), "a01-tray07", altered(tray(), f"{LEAKING}.state", "Critical")))["rack.no_leak"]
    assert (found.status, found.reason) == (Status.FAIL, "rack.leaks is 1, must be 0")
    nodes = rack()
    switch = next(leaves for node, leaves in nodes.items() if node.role == "nvswitch-tray")
    wet = altered(switch, "leak/leakage_aggr.state", "Warning")
    assert of_rack(profile, odd(nodes, "a01-switch03", wet))["rack.no_leak"].status is Status.FAIL


def test_a_place_without_a_detector_is_no_leak(profile: Profile) -> None:
    empty = altered(absent(tray(), f"{LEAKING}.state"), f"{LEAKING}.fitted", "Absent")
    assert of_rack(profile, odd(rack(), "a01-tray07", empty))["rack.no_leak"].status is Status.PASS


def test_the_recorded_tray_leaks(profile: Profile) -> None:
    found = of_rack(profile, odd(rack(), "a01-tray07", {**tray(), **tree_leaves(GB200)}))
    assert found["rack.no_leak"].status is Status.FAIL


def test_one_tray_of_another_vbios_fails_the_rack_though_another_tray_is_silent(profile: Profile) -> None:
    nodes = odd(rack(), "a01-tray07", all_gpus("vbios", "97.00.B9.00.70"))
    silent = Tree({}, {Plane.OS: GONE, Plane.BMC: GONE})
    nodes = {node: silent if node.name == "a01-tray01" else held for node, held in nodes.items()}
    found = judged(profile, nodes)
    assert found["@rack:a01"]["rack.vbios_alike"].status is Status.FAIL
    assert found["a01-tray07"]["firmware.alike"].status is Status.FAIL
    assert (
        "gpu/0.vbios is 97.00.B9.00.70, must be 97.00.B9.00.69 as on 16 of 18"
        in found["a01-tray07"]["firmware.alike"].reason
    )
    assert found["a01-tray02"]["firmware.alike"].status is Status.PASS


@pytest.mark.parametrize(("name", "role"), [("a01-tray07", "compute"), ("a01-switch03", "nvswitch-tray")])
def test_one_tray_whose_bmc_has_other_firmware_fails_the_rack(name: str, role: str, profile: Profile) -> None:
    nodes = rack()
    leaves = next(leaves for node, leaves in nodes.items() if node.role == role)
    found = of_rack(profile, odd(nodes, name, altered(leaves, "firmware.bmc", "88.0002.1951")))
    assert {rule for rule in RULES if found[rule].status is not Status.PASS} == {"rack.bmc_alike"}


# ---- when a rack is judged at all ------------------------------------------------------------------------------------


def test_a_rack_is_not_judged_unless_all_its_nodes_are_read(profile: Profile) -> None:
    nodes = dict(list(rack().items())[1:])
    left = next(iter(rack()))
    assert not [name for name in judged(profile, nodes, expected=[left]) if name.startswith("@rack")]


def test_each_rack_is_judged_by_itself(profile: Profile) -> None:
    short = {node: held for node, held in rack("a02").items() if node.name != "a02-tray18"}
    found = judged(profile, {**rack("a01"), **short})
    assert found["@rack:a01"]["rack.gpus"].status is Status.PASS
    assert found["@rack:a02"]["rack.gpus"].reason == "rack.gpu_count is 68, must be 72"


def test_where_only_bmcs_are_read_the_rack_is_judged_by_their_facts(profile: Profile) -> None:
    found = judged(profile, rack(), planes=frozenset({Plane.BMC}))
    assert set(found["@rack:a01"]) == {"rack.no_leak", "rack.bmc_alike", "rack.bios_alike"}


def test_a_rack_of_nine_trays_is_set_by_a_param(profile: Profile) -> None:
    own = library.load("gb200-nvl72", registry().catalogue, {"rack_gpus": "36"})
    assert of_rack(own, rack(trays=9))["rack.gpus"].status is Status.PASS
    assert of_rack(profile, rack(trays=9))["rack.gpus"].status is Status.FAIL


# ---- the law of information ------------------------------------------------------------------------------------------


def facts(group: NodeGroup, members: Mapping[str, Mapping[str, Leaf]]) -> dict[str, Reading]:
    """The facts of a group."""
    trees = {name: Tree(leaves) for name, leaves in members.items()}
    found = gathered(group, registry().gatherings, trees, ROW)
    return {path: leaf.reading for path, leaf in found.leaves.items()}


@given(
    st.lists(
        st.tuples(st.sampled_from(["compute", "compute", "nvswitch-tray", "power-shelf"]), nodes()),
        min_size=1,
        max_size=4,
    ),
    st.data(),
)
def test_a_fact_that_is_taken_away_leaves_what_follows_the_same_or_unknown(
    source: list[tuple[str, dict[str, Leaf]]], data: st.DataObject
) -> None:
    members = {f"n{number}": leaves for number, (_, leaves) in enumerate(source)}
    seats = tuple(Seat(f"n{number}", role, "a01") for number, (role, _) in enumerate(source))
    name = data.draw(st.sampled_from(sorted(members)))
    path = data.draw(st.sampled_from(sorted(members[name])))
    fewer = {**members, name: {**members[name], path: replace(members[name][path], reading=GONE)}}
    for scope in (Scope.RACK, Scope.FLEET):
        group = NodeGroup("@it", scope, seats)
        before, after = facts(group, members), facts(group, fewer)
        assert set(before) == set(after)
        for each, reading in after.items():
            assert isinstance(reading, Unknown) or same(reading, before[each]), (each, path, before[each])


@given(st.lists(nodes(), min_size=1, max_size=4), st.data())
def test_a_node_that_falls_silent_leaves_what_follows_the_same_or_unknown(
    source: list[dict[str, Leaf]], data: st.DataObject
) -> None:
    members = {f"n{number}": leaves for number, leaves in enumerate(source)}
    seats = tuple(Seat(name, "compute", "a01") for name in members)
    name = data.draw(st.sampled_from(sorted(members)))
    silent = {path: replace(leaf, reading=GONE) for path, leaf in members[name].items() if "/" not in path}
    for scope in (Scope.RACK, Scope.FLEET):
        group = NodeGroup("@it", scope, seats)
        before, after = facts(group, members), facts(group, {**members, name: silent})
        assert all(isinstance(r, Unknown) or same(r, before[each]) for each, r in after.items())


def same(one: Reading, other: Reading) -> bool:
    """Whether two readings are judged alike: two lists of findings are, if both or neither is empty."""
    return one == other or (isinstance(one, tuple) and isinstance(other, tuple) and bool(one) == bool(other))


@given(st.lists(nodes(), min_size=1, max_size=4))
def test_the_order_of_the_nodes_decides_no_value(source: list[dict[str, Leaf]]) -> None:
    members = {f"n{number}": leaves for number, leaves in enumerate(source)}
    seats = tuple(Seat(name, "compute", "a01") for name in members)
    for scope in (Scope.RACK, Scope.FLEET):
        one, other = (facts(NodeGroup("@it", scope, order), members) for order in (seats, seats[::-1]))
        for path, reading in one.items():
            assert reading == other[path] or (isinstance(reading, Unknown) and isinstance(other[path], Unknown))


def test_a_serial_number_that_stands_twice_settles_it_though_another_node_is_silent() -> None:
    serials: Mapping[str, Reading] = {"n0": "one", "n1": GONE, "n2": "one", "n3": "two"}
    group = NodeGroup("@fleet", Scope.FLEET, tuple(Seat(name) for name in serials))

    def values_of(names: Mapping[str, Reading]) -> dict[str, Reading]:
        none: Reading = ()
        return facts(
            group, {n: {"node.serial": _leaf("node.serial", r), "gpu": _leaf("gpu", none)} for n, r in names.items()}
        )

    assert values_of(serials)["fleet.distinct_serials"] is False
    apart = values_of({**serials, "n2": "three"})
    assert apart["fleet.distinct_serials"] == Unknown(Reason.UNREACHABLE, "n1: connection refused")
    assert values_of({**serials, "n1": "four", "n2": "three"})["fleet.distinct_serials"] is True
    assert apart["fleet.gpu_count"] == 0


def misplaced(*cables: tuple[Reading, Reading], racks: str = "aaaaaaaa") -> Reading:
    """The misplaced cables of nodes whose two cables lead to these switches."""
    names: Reading = ("eth0", "eth1")
    members = {
        f"n{number}": {"nic.lldp": _leaf("nic.lldp", names)}
        | {f"nic.lldp/eth{i}.switch": _leaf(f"nic.lldp/eth{i}.switch", switch) for i, switch in enumerate(pair)}
        for number, pair in enumerate(cables)
    }
    seats = tuple(Seat(name, "compute", rack) for name, rack in zip(members, racks, strict=False))
    return facts(NodeGroup("@fleet", Scope.FLEET, seats), members)["fleet.cables.misplaced"]


def test_cables_that_are_exchanged_are_named_by_the_vote_of_their_rack() -> None:
    usual, exchanged = ("leaf-1", "leaf-2"), ("leaf-2", "leaf-1")
    assert misplaced(usual, usual, usual, exchanged) == (
        "n3 eth0 at leaf-2, on most nodes at leaf-1",
        "n3 eth1 at leaf-1, on most nodes at leaf-2",
    )
    assert misplaced(usual, usual, usual, ("leaf-1", "leaf-3")) == ()  # a switch of another kind of place
    assert misplaced(usual, usual, exchanged, exchanged) == ()  # no majority
    assert misplaced(usual, usual, usual, exchanged, exchanged, exchanged, racks="aaabbb") == ()
    hidden = misplaced(usual, usual, usual, ("leaf-1", GONE))
    assert hidden == Unknown(Reason.UNREACHABLE, "n3: connection refused")
    silent = (GONE, GONE)
    assert isinstance(misplaced(usual, usual, usual, exchanged, silent), Unknown)  # three of five are not enough
    assert len(misplaced(*[usual] * 6, exchanged, silent)) == 2  # type: ignore[arg-type]  # a list


def test_the_facts_of_a_group_are_all_promised_ones(profile: Profile) -> None:
    (group,) = (
        g
        for g in groups([Seat(n.name, n.role, n.rack) for n in rack()], frozenset(n.name for n in rack()))
        if g.scope is Scope.RACK
    )
    found = facts(group, {node.name: leaves for node, leaves in rack().items()})
    assert set(found) == {p for g in registry().gatherings if g.scope is Scope.RACK for p in g.gives}
