"""The tree of PCI functions: its links, their bandwidth, what is near; and that unknown facts stay unknown."""

from collections.abc import Mapping
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.model.pcie_tree import (
    Hop,
    Links,
    PcieTable,
    bandwidth,
    bottleneck,
    carries,
    expected_speed,
    expected_width,
    hops,
    lanes_kept,
    narrowed,
    ports,
    slowed,
    speed_kept,
    switch,
)
from rackcheck.probe.pcie_near import Near, PcieLocations, nearest, nearness

# As on an HGX board: below each root port a switch with a NIC, and below that a second one with a GPU.
UP: dict[str, Reading] = {
    "root": Absent(), "up": "root", "low0": "up", "low1": "up", "nic": "low0", "nic.1": "low0",
    "up2": "low1", "low2": "up2", "low3": "up2", "gpu": "low2", "drive": "low3",
    "other root": Absent(), "other nic": "other root", "far root": Absent(), "far nic": "far root",
    "inside": Absent(),
}  # fmt: skip
BRIDGE: dict[str, Reading] = {
    name: "0000:80"
    if name.startswith("far")
    else "0000:00"
    if name in {"inside"} | {n for n in UP if "other" in n}
    else "0000:15"
    for name in UP
}
NUMA: dict[str, Reading] = {name: int(name.startswith("far")) for name in UP}
PLACES = PcieLocations(UP, BRIDGE, NUMA)
WHY = Unknown(Reason.DENIED, "needs root")


def links(**changes: Mapping[str, Reading]) -> Links:
    """Links of 16 lanes at 32 GT/s, except these."""
    tables: dict[str, dict[str, Reading]] = {
        "max_speed": dict.fromkeys(UP, 32.0),
        "max_width": dict.fromkeys(UP, 16),
        "width": dict.fromkeys(UP, 16),
        "speed": dict.fromkeys(UP, 32.0),
    }
    for name, changed in changes.items():
        tables[name] |= changed
    return Links(**tables)


# Ways


def test_the_ports_above_are_listed_from_the_nearest_up() -> None:
    assert ports("gpu", UP) == ("low2", "up2", "low1", "up", "root")
    assert ports("inside", UP) == ()


def test_only_what_is_between_two_switches_is_a_link() -> None:
    assert hops("gpu", UP) == (Hop("gpu", "low2"), Hop("up2", "low1"), Hop("up", "root"))
    assert hops("other nic", UP) == (Hop("other nic", "other root"),)
    assert hops("low2", UP) == (Hop("up2", "low1"), Hop("up", "root"))
    assert hops("root", UP) == ()


@pytest.mark.parametrize(
    ("function", "found"),
    [("gpu", "up2"), ("nic", "up"), ("up2", "up"), ("low2", "up2"), ("low0", "up")],
)
def test_a_switch_is_named_by_its_upper_port(function: str, found: str) -> None:
    assert switch(function, UP) == found


@pytest.mark.parametrize("function", ["other nic", "up", "root", "inside"])
def test_what_hangs_on_a_root_port_is_below_no_switch(function: str) -> None:
    assert isinstance(switch(function, UP), Absent)


@pytest.mark.parametrize("loop", [{"root": "gpu"}, {"root": "up"}, {"root": "root"}, {"gpu": "gpu"}, {"up": 7}])
def test_ports_that_lead_in_a_circle_or_nowhere_are_unknown(loop: dict[str, Reading]) -> None:
    assert isinstance(ports("gpu", UP | loop), Unknown)
    assert isinstance(switch("gpu", UP | loop), Unknown)


def test_more_ports_than_any_machine_has_are_not_climbed() -> None:
    tower: dict[str, Reading] = {str(n): str(n + 1) for n in range(10_000)}
    assert isinstance(ports("0", tower), Unknown)


def test_a_port_without_any_reading_is_unknown() -> None:
    assert isinstance(ports("gpu", {"gpu": "low2"}), Unknown)


# Links


def test_a_link_should_have_what_both_its_ends_have() -> None:
    value = links(max_width={"low2": 8}, max_speed={"gpu": 16.0})
    assert expected_width(Hop("gpu", "low2"), value) == 8
    assert expected_speed(Hop("gpu", "low2"), value) == 16.0


# GT/s times lanes times coding: 16 lanes of 32 GT/s are 63.0 GB/s one way.
@pytest.mark.parametrize(
    ("speed", "width", "gigabits"),
    [(2.5, 1, 2.0), (5.0, 4, 16.0), (8.0, 16, 126.03), (16.0, 16, 252.06), (32.0, 16, 504.12), (64.0, 16, 1024.0)],
)
def test_a_link_carries_its_transfers_less_the_coding(speed: float, width: int, gigabits: float) -> None:
    assert bandwidth(speed, width) == pytest.approx(gigabits, abs=0.01)


@pytest.mark.parametrize(
    ("speed", "width"), [(7.0, 16), ("fast", 16), (8.0, "x16"), (True, 16), (8.0, True), (8.0, 1.5)]
)
def test_what_is_no_link_carries_nothing_known(speed: Reading, width: Reading) -> None:
    assert isinstance(bandwidth(speed, width), Unknown)


def test_narrowed_links_are_named_from_the_nearest_up() -> None:
    value = links(width={"gpu": 8, "up": 4})
    assert narrowed("gpu", UP, value) == ("low2 > gpu", "root > up")
    assert narrowed("nic", UP, value) == ("root > up",)
    assert narrowed("other nic", UP, value) == ()
    assert isinstance(narrowed("inside", UP, value), Absent)


def test_a_link_is_not_narrowed_where_its_slot_is_narrow_by_design() -> None:
    assert narrowed("gpu", UP, links(width={"gpu": 8}, max_width={"low2": 8})) == ()


def test_the_speed_of_an_idle_link_is_no_measure_of_its_capacity() -> None:
    # The current speed is no input: both ends support 32 GT/s.
    assert carries(Hop("gpu", "low2"), links(width={"gpu": 8})) == pytest.approx(252.06, abs=0.01)


def test_the_bottleneck_is_the_link_that_carries_least() -> None:
    name, gigabits = bottleneck("gpu", UP, links(max_speed={"up": 16.0}, width={"gpu": 12}))
    assert name == "root > up"
    assert gigabits == pytest.approx(252.06, abs=0.01)
    assert bottleneck("gpu", UP, links())[0] == "low2 > gpu"
    assert isinstance(bottleneck("inside", UP, links())[0], Absent)


def test_a_bus_of_the_old_pci_is_passed_over() -> None:
    old: dict[str, Reading] = {"gpu": Absent()}
    value = links(width=old, max_width=old, max_speed=old)
    assert narrowed("gpu", UP, value) == ()
    assert bottleneck("gpu", UP, value)[0] == "low1 > up2"


def test_slow_links_are_named_from_the_nearest_up_and_apart_from_the_functions_own() -> None:
    value = links(speed={"gpu": 2.5, "up": 16.0})
    assert slowed("gpu", UP, value) == (("low2 > gpu", "root > up"), ("root > up",))
    assert slowed("nic", UP, value) == (("root > up",), ("root > up",))
    assert slowed("other nic", UP, value) == ((), ())
    assert all(isinstance(reading, Absent) for reading in slowed("inside", UP, value))


def test_a_gpu_that_idles_slows_its_own_link_and_none_above() -> None:
    assert slowed("gpu", UP, links(speed={"gpu": 2.5}))[1] == ()


def test_a_link_is_not_slow_where_one_end_supports_no_more() -> None:
    assert slowed("gpu", UP, links(speed={"gpu": 16.0}, max_speed={"low2": 16.0})) == ((), ())
    assert slowed("gpu", UP, links(speed={"gpu": WHY}, max_speed={"low2": 2.5})) == ((), ())


def test_what_a_functions_own_link_has_is_compared_with_what_both_ends_support() -> None:
    assert (lanes_kept("nic", UP, links()), speed_kept("nic", UP, links())) == ("all", "full")
    lost = links(width={"nic": 1, "root": 8}, speed={"nic": 16.0})
    assert (lanes_kept("nic", UP, lost), speed_kept("nic", UP, lost)) == ("1 of 16", "16 of 32 GT/s")
    assert (lanes_kept("gpu", UP, lost), lanes_kept("root", UP, lost)) == ("all", "8 of 16")
    narrow = links(max_width={"low0": 2}, width={"nic": 2})
    assert lanes_kept("nic", UP, narrow) == "all"


def test_an_unreported_speed_leaves_only_the_links_above_known() -> None:
    own, above = slowed("gpu", UP, links(speed={"gpu": WHY}))
    assert (own, above) == (WHY, ())
    assert slowed("gpu", UP, links(speed={"up": WHY}))[1] == WHY
    assert isinstance(slowed("gpu", UP, links(speed={"up": "fast"}))[1], Unknown)


# Nearness


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("gpu", "drive", Near.PIX),
        ("nic", "nic.1", Near.PIX),
        ("gpu", "nic", Near.PXB),
        ("other nic", "inside", Near.PHB),
        ("gpu", "other nic", Near.NODE),
        ("gpu", "far nic", Near.SYS),
    ],
)
def test_nearness_uses_the_words_of_nvidia_smi(one: str, other: str, near: Near) -> None:
    assert nearness(one, other, PLACES) is near
    assert nearness(other, one, PLACES) is near


def test_without_numa_nodes_two_host_bridges_are_neither_near_nor_far() -> None:
    absent = PcieLocations(UP, BRIDGE, dict.fromkeys(UP, Absent("the firmware assigns no NUMA node")))
    assert isinstance(nearness("gpu", "far nic", absent), Unknown)
    assert nearness("gpu", "nic", absent) is Near.PXB


def test_the_nearest_are_listed_in_the_order_they_were_named() -> None:
    assert nearest("gpu", ["far nic", "nic.1", "other nic", "nic"], PLACES) == ("nic.1", "nic")
    assert nearest("gpu", [], PLACES) == ()


def test_what_could_not_be_as_near_does_not_make_the_nearest_unknown() -> None:
    lost = PcieLocations(UP, BRIDGE, NUMA | {"far nic": WHY})
    assert nearest("gpu", ["far nic", "nic"], lost) == ("nic",)
    assert nearest("gpu", ["far nic", "other nic"], lost) == WHY


def test_a_port_that_both_share_below_an_unknown_one_is_enough() -> None:
    assert nearness("gpu", "drive", PcieLocations(UP | {"up2": WHY}, {}, {})) is Near.PIX
    assert nearness("gpu", "nic", PcieLocations(UP | {"up": WHY}, {}, {})) is Near.PXB
    assert nearness("gpu", "nic", PcieLocations(UP | {"up2": WHY}, BRIDGE, NUMA)) == WHY


# The law


LEAVES: dict[str, tuple[Reading, ...]] = {
    "speed": (2.5, 16.0, 32.0, Absent()),
    "now": (2.5, 16.0, Absent()),
    "most": (1, 4, 16, Absent()),
    "width": (1, 4, 16, Absent()),
    "bridge": ("a", "b"),
    "numa": (0, 1, Absent()),
}


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Reading]:
    """Functions without a parent, or below an earlier one."""
    places: list[Reading] = [Absent()]
    found: dict[str, Reading] = {}
    for number in range(draw(st.integers(0, 7))):
        found[f"f{number}"] = draw(st.sampled_from(places))
        places.append(f"f{number}")
    return found


def hidden(data: st.DataObject, table: PcieTable) -> dict[str, Reading]:
    """The table with some readings unknown."""
    lost = data.draw(st.sets(st.sampled_from(sorted(table)))) if table else set()
    return {name: WHY if name in lost else reading for name, reading in table.items()}


def stays_or_is_unknown(less: object, more: object) -> None:
    assert isinstance(less, Unknown) or less == more


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_with_less_known_a_result_stays_or_becomes_unknown(data: st.DataObject) -> None:
    tree = data.draw(trees())
    names = sorted(tree)
    some = {leaf: {n: data.draw(st.sampled_from(values)) for n in names} for leaf, values in LEAVES.items()}
    less_tree, less = hidden(data, tree), {leaf: hidden(data, table) for leaf, table in some.items()}
    full, part = (Links(t["speed"], t["most"], t["width"], t["now"]) for t in (some, less))
    places, fewer = (
        PcieLocations(tree, some["bridge"], some["numa"]),
        PcieLocations(less_tree, less["bridge"], less["numa"]),
    )
    for name in names:
        stays_or_is_unknown(ports(name, less_tree), ports(name, tree))
        stays_or_is_unknown(hops(name, less_tree), hops(name, tree))
        stays_or_is_unknown(switch(name, less_tree), switch(name, tree))
        stays_or_is_unknown(narrowed(name, less_tree, part), narrowed(name, tree, full))
        for reading, whole in zip(bottleneck(name, less_tree, part), bottleneck(name, tree, full), strict=True):
            stays_or_is_unknown(reading, whole)
        stays_or_is_unknown(lanes_kept(name, less_tree, part), lanes_kept(name, tree, full))
        stays_or_is_unknown(speed_kept(name, less_tree, part), speed_kept(name, tree, full))
        for reading, whole in zip(slowed(name, less_tree, part), slowed(name, tree, full), strict=True):
            stays_or_is_unknown(reading, whole)
        for other in names:
            stays_or_is_unknown(nearness(name, other, fewer), nearness(name, other, places))
        stays_or_is_unknown(nearest(name, names, fewer), nearest(name, names, places))


VALUES: dict[str, tuple[Reading, ...]] = {
    "numa": (0, 1),
    "bridge": ("a", "b"),
    # A function may hang below the other one itself.
    "up": (Absent(), "p", "q", "the other"),
}


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_nearness_is_unknown_only_where_two_values_of_the_unknown_would_differ(data: st.DataObject) -> None:
    """Two functions with at most one port above each, every unknown of which is tried."""
    keys = [(leaf, name) for leaf in VALUES for name in ("one", "two")]
    chosen = {key: data.draw(st.sampled_from([WHY, *VALUES[key[0]]])) for key in keys}

    def near(table: Mapping[tuple[str, str], Reading]) -> Near | Unknown:
        tables = {leaf: {name: table[leaf, name] for name in ("one", "two")} for leaf in VALUES}
        for name, other in (("one", "two"), ("two", "one")):
            if tables["up"][name] == "the other":
                tables["up"][name] = other
        return nearness(
            "one", "two", PcieLocations(tables["up"] | {"p": Absent(), "q": Absent()}, tables["bridge"], tables["numa"])
        )

    lost = [key for key in keys if chosen[key] == WHY]
    worlds = {
        near(chosen | dict(zip(lost, world, strict=True))) for world in product(*(VALUES[leaf] for leaf, _ in lost))
    }
    assert near(chosen) == (worlds.pop() if len(worlds) == 1 else WHY)


# Bounds


class CountingTable(dict[str, Reading]):
    """A table that counts its look-ups."""

    times = 0

    def get(self, key: str, default: Reading | None = None) -> Reading:  # type: ignore[override]
        self.times += 1
        return super().get(key, default)  # type: ignore[return-value]


def test_a_way_is_climbed_once_though_every_function_is_held_against_every_other() -> None:
    """64 by 64 paths of 60 ports that meet at their top, more than on any machine."""
    names = [f"{kind}{n}" for kind in ("gpu", "nic") for n in range(64)]
    upstream = CountingTable({f"{name}.{step}": f"{name}.{step + 1}" for name in names for step in range(59)})
    upstream.update({name: f"{name}.0" for name in names} | {f"{name}.59": "root" for name in names})
    upstream["root"] = Absent()
    places = PcieLocations(upstream, {}, {})
    gpus, nics = names[:64], names[64:]
    assert {nearest(gpu, nics, places) for gpu in gpus} == {tuple(nics)}
    assert {nearness(gpu, nic, places) for gpu in gpus for nic in nics} == {Near.PXB}
    assert upstream.times <= len(names) * 64
