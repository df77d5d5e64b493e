"""Racks as they stand, and what a cell shows: every node once, unknown values as `?` and never as a number."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from trees import DGX, bmc_probes, read

from rackcheck.evaluate.verdict import Outcome
from rackcheck.inventory import Rack, RackSlot
from rackcheck.model import path as paths
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.collect import collect
from rackcheck.probe.registry import registry
from rackcheck.views import rack_lines
from rackcheck.views.elevation import NO_RACK, NO_UNIT, RackPanel, dots, elevation
from rackcheck.views.locations import NodeLocation
from rackcheck.views.modes import (
    LEFT_OUT,
    MEASURES,
    NOT_JUDGED,
    REQUESTED,
    Cell,
    KnownNodes,
    Mode,
    mode_readings,
    needs,
    picture,
    share,
)
from rackcheck.views.signs import Signs

PLAIN, RICH = Signs(plain=True), Signs(plain=False)
TWIN = Rack("p", "B", "twin", 6, {"top": RackSlot(5, 2, "storage"), "low": RackSlot(1, 1, "compute")})


def node(rack: str = "p", u: int = 0, height: int = 1, slot: str = "", role: str = "compute") -> NodeLocation:
    return NodeLocation(role, rack, u, height, slot)


def panel(places: Mapping[str, NodeLocation], shape: Rack | None = TWIN) -> RackPanel:
    (found,) = elevation(places, {"p": shape} if shape is not None else {}).racks
    return found


def test_a_rack_is_listed_from_top_to_bottom_with_its_empty_slots_and_their_purpose() -> None:
    found = panel({"a": node(u=1), "b": node(u=3, height=2)})
    assert [(s.label, s.nodes, s.slot, s.role) for s in found.shelves] == [
        ("U5-6", (), "top", "storage"), ("U3-4", ("b",), "", "compute"), ("U2", (), "", ""), ("U1", ("a",), "", "compute"),
    ]  # fmt: skip
    assert found.labels == ("U5-6", "U3-4", "U2", "U1")
    assert found.rows == (("",), ("b",), ("",), ("a",))
    assert (found.name, found.row, found.title, found.height) == ("p", "B", "twin", 6)


def test_a_slot_that_something_reaches_into_is_not_shown_as_empty() -> None:
    slots = [shelf.slot for shelf in panel({"a": node(u=4, height=2)}).shelves]
    assert "top" not in slots
    assert "low" in slots


def test_a_node_that_names_its_slot_alone_stands_in_it() -> None:
    (top, *_) = panel({"a": node(slot="top", role="storage")}).shelves
    assert (top.nodes, top.u, top.height, top.slot) == (("a",), 5, 2, "top")


def test_nodes_on_one_unit_stand_side_by_side_in_natural_order() -> None:
    assert panel({"n10": node(u=1), "n9": node(u=1), "n2": node(u=1)}, None).rows == (("n2", "n9", "n10"),)


def test_a_node_without_a_unit_is_placed_below_all_shelves() -> None:
    found = panel({"n10": node(), "n9": node(), "a": node(u=1)})
    assert found.labels[-3:] == ("U1", NO_UNIT, NO_UNIT)
    assert found.rows[-2:] == (("n9",), ("n10",))


def test_a_rack_of_unknown_height_has_no_empty_units() -> None:
    assert panel({"a": node(u=9), "b": node(u=1)}, None).labels == ("U9", "U1")


def test_racks_stand_row_by_row_and_nodes_without_a_rack_last() -> None:
    shapes = {name: Rack(name, row) for name, row in (("r10", "A"), ("r9", "A"), ("x", "B"))}
    places = {name: node(name, 1) for name in ("y", "x", "r10", "r9")} | {"lone": node("")}
    assert [(p.row, p.name) for p in elevation(places, shapes).racks] == [
        ("A", "r9"), ("A", "r10"), ("B", "x"), ("", "y"), ("", NO_RACK),
    ]  # fmt: skip


PLACES = st.builds(
    NodeLocation, st.sampled_from(["compute", "storage"]), st.sampled_from(["", "p", "q"]),
    st.integers(-2, 12) | st.just(10**12), st.integers(-2, 9) | st.just(10**12), st.sampled_from(["", "top", "low", "x"]),
)  # fmt: skip


@given(st.dictionaries(st.text("abn0123456789", min_size=1, max_size=4), PLACES, max_size=12))
def test_every_node_is_placed_exactly_once_whatever_place_a_stored_run_has_for_it(
    places: dict[str, NodeLocation],
) -> None:
    found = elevation(places, {"p": TWIN}).racks
    assert sorted(name for each in found for name in each.nodes) == sorted(places)
    for each in found:
        assert len(each.rows) == len(each.labels) == len(each.shelves)
        units = [shelf.u for shelf in each.shelves if shelf.u]
        assert all(high > low for high, low in pairwise(units))
        filled = [(s.u, s.u + s.height) for s in each.shelves if s.u and s.nodes]
        for shelf in each.shelves:
            empty = not shelf.nodes
            assert not empty or all(end <= shelf.u or start >= shelf.u + shelf.height for start, end in filled)


def test_a_large_rack_is_shown_in_lines_of_so_many_nodes() -> None:
    found = RackPanel("hall", panel({f"n{i}": node() for i in range(10)}, None).shelves)
    assert dots(found, 4) == (("n0", "n1", "n2", "n3"), ("n4", "n5", "n6", "n7"), ("n8", "n9"))


# What a cell shows.


def leaf(reading: Reading, unit: str = "C") -> Leaf:
    return Leaf(reading, Kind(Type.QUANTITY, "help", unit=unit), Plane.OS, "/x")


def tree(readings: Mapping[str, Reading]) -> Tree:
    gpus = tuple(dict.fromkeys(path.split("/")[1].split(".")[0] for path in readings))
    listing = Leaf(gpus, Kind(Type.COLLECTION, "help"), Plane.OS, "/x")
    return Tree({"gpu": listing, **{path: leaf(reading) for path, reading in readings.items()}})


def test_every_fact_that_a_mode_may_show_is_in_the_catalogue_with_the_stated_plane_and_unit() -> None:
    for measures in MEASURES.values():
        for measure in measures:
            entry = registry().catalogue.find(paths.parse(measure.pattern))
            assert entry is not None
            assert (entry.plane, entry.kind.unit) == (measure.plane, measure.unit)
    assert needs(Mode.STATE) == needs(Mode.DRIFT) == ()


def test_the_hottest_gpu_speaks_for_its_node_and_all_gpus_together_for_its_power() -> None:
    hot = mode_readings(Mode.TEMPERATURE, tree({"gpu/0.temperature": 40.0, "gpu/1.temperature": 61.0}))
    assert hot["gpu/*.temperature"] == 61.0
    assert mode_readings(Mode.POWER, tree({"gpu/0.power.draw": 0.1, "gpu/1.power.draw": 0.2}))[
        "gpu/*.power.draw"
    ] == pytest.approx(0.3)


def test_the_hottest_gpu_of_a_bmc_is_not_the_one_with_the_largest_headroom() -> None:
    found = read(DGX, None, "bmc_gpu", "bmc_gpu_temperature")
    probes = [bmc_probes()[name] for name in ("bmc_gpu", "bmc_gpu_temperature")]
    hot = mode_readings(Mode.TEMPERATURE, Tree(collect(probes, found)))
    assert hot["bmc.gpu/*.temperature"] == 35.34375


@pytest.mark.parametrize("bad", [Unknown(Reason.DENIED), float("inf"), float("nan"), True, "warm"])
def test_one_unknown_gpu_leaves_its_node_unknown(bad: Reading) -> None:
    found = mode_readings(Mode.TEMPERATURE, tree({"gpu/0.temperature": 40.0, "gpu/1.temperature": bad}))
    assert isinstance(found["gpu/*.temperature"], Unknown)


def test_a_node_without_gpus_has_no_temperature_of_theirs_and_a_silent_one_is_unknown() -> None:
    none = Tree({"gpu": Leaf((), Kind(Type.COLLECTION, "help"), Plane.OS, "/x")})
    assert isinstance(mode_readings(Mode.TEMPERATURE, none)["gpu/*.temperature"], Absent)
    silent = mode_readings(Mode.TEMPERATURE, Tree({}, {Plane.OS: Unknown(Reason.TIMEOUT)}))
    assert silent["gpu/*.temperature"] == Unknown(Reason.TIMEOUT)


def measured(values: Mapping[str, Reading | None], mode: Mode = Mode.TEMPERATURE) -> tuple[dict[str, Cell], str]:
    heard = {name: {"gpu/*.temperature": value} for name, value in values.items() if value is not None}
    found = picture(mode, KnownNodes(tuple(values), requested=frozenset({"asked"}), readings=heard), PLAIN)
    return dict(found.cells), str(found.legend)


def test_a_measured_cell_is_a_share_of_the_fleet_and_its_word_the_value() -> None:
    cells, legend = measured({"a": 20.0, "b": 30.0, "c": 40.0})
    assert {name: (cell.sign, cell.word) for name, cell in cells.items()} == {
        "a": ("0", "20 C"), "b": ("5", "30 C"), "c": ("9", "40 C"),
    }  # fmt: skip
    assert legend == "temperature: gpu/*.temperature, hottest GPU   0 to 9 = 20 C to 40 C"


def test_a_value_that_is_no_number_is_marked_apart_and_never_drawn_as_one() -> None:
    cells, legend = measured({"a": 20.0, "b": Unknown(Reason.TIMEOUT), "c": Absent(), "d": None, "asked": None})
    assert {name: cell.sign for name, cell in cells.items()} == {"a": "0", "b": "?", "c": "-", "d": "?", "asked": ">"}
    assert (cells["b"].word, cells["d"].word) == ("timeout", "not reported")
    assert legend.endswith("0 = 20 C, all alike   ? 2 not known   - 1 absent   > 1 being read")


def test_where_no_node_has_a_value_the_legend_names_the_facts_looked_for() -> None:
    cells, legend = measured({"a": None})
    assert cells["a"].sign == "?"
    assert all(pattern in legend for pattern in needs(Mode.TEMPERATURE))


def test_the_fact_that_most_nodes_report_is_the_one_that_all_cells_show() -> None:
    heard: dict[str, dict[str, Reading]] = {
        "a": {"bmc.thermal.inlet": 20.0, "gpu/*.temperature": 50.0},
        "b": {"bmc.thermal.inlet": Unknown(Reason.DENIED), "gpu/*.temperature": 60.0},
    }
    found = picture(Mode.TEMPERATURE, KnownNodes(("a", "b"), readings=heard), PLAIN)
    assert found.measure is not None
    assert found.measure.pattern == "gpu/*.temperature"
    alike = picture(Mode.TEMPERATURE, KnownNodes(("a",), readings=heard), PLAIN)
    assert alike.measure is not None
    assert alike.measure.pattern == "bmc.thermal.inlet"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=5))
def test_a_share_is_a_digit_that_never_falls_while_its_value_rises(values: list[float]) -> None:
    digits = [share(value, min(values), max(values)) for value in sorted(values)]
    assert digits == sorted(digits)
    assert digits[0] == 0
    assert digits[-1] == (9 if min(values) < max(values) else 0)


def test_state_has_a_sign_of_its_own_whatever_colours_there_are() -> None:
    outcomes = dict(zip("abc", Outcome, strict=True))
    for signs in (PLAIN, RICH):
        found = picture(Mode.STATE, KnownNodes((*"abcde",), outcomes, frozenset({"d"})), signs)
        assert len({found.cells[name].sign for name in "abcde"}) == 5
        assert all(cell_len(cell.sign) == 1 for cell in found.cells.values())
        assert (found.cells["d"], found.cells["e"]) == (REQUESTED, NOT_JUDGED)
    assert str(picture(Mode.STATE, KnownNodes((*"abcde",), outcomes, frozenset({"d"})), PLAIN).legend) == (
        "x 1 FAIL   ? 1 INCOMPLETE   > 1 being read   - 1 not judged   + 1 PASS"
    )


def test_drift_counts_to_nine_and_a_node_that_was_not_compared_is_not_alike() -> None:
    counts = {"a": 0, "b": 1, "c": 9, "d": 1200}
    found = picture(Mode.DRIFT, KnownNodes((*"abcde",), drift=counts), PLAIN).cells
    assert [found[name].sign for name in "abcde"] == ["0", "1", "9", "+", "?"]
    assert [found[name].word for name in "abd"] == ["no fact differs", "1 fact differs", "1,200 facts differ"]


# What is drawn.


def drawing(
    panels: Sequence[RackPanel], cells: Mapping[str, Cell], width: int = 80, mode: Mode = Mode.STATE
) -> list[str]:
    return [str(line) for line in rack_lines.lines(panels, cells, mode, width, PLAIN)]


def test_racks_stand_side_by_side_as_they_fit() -> None:
    places = {f"{rack}-n": node(rack, 1) for rack in ("r1", "r2", "r3")}
    panels = elevation(places, {}).racks
    cells = dict.fromkeys(places, Cell("x", "", "FAIL"))
    wide, narrow = drawing(panels, cells), drawing(panels, cells, 30)
    assert wide[0].split("   ") == ["r1  0 of 1 node passes", "r2  0 of 1 node passes", "r3  0 of 1 node passes"]
    assert [wide[1].index(f"{rack}-n") - wide[0].index(rack) for rack in ("r1", "r2", "r3")] == [5, 5, 5]
    assert [line for line in narrow if "x" in line] == ["U1 x r1-n", "U1 x r2-n", "U1 x r3-n"]


def test_an_empty_slot_is_drawn_with_its_role_and_a_node_that_is_left_out_as_a_dot() -> None:
    rows = drawing([panel({"a": node(u=1)})], {"a": LEFT_OUT})
    assert rows[:2] == ["row B", "p  0 of 1 node shown"]
    assert rows[3:6] == ["U5-6 (storage)", "U2-4", "  U1 . a"]


def test_more_nodes_than_a_rack_has_units_are_drawn_many_to_a_line() -> None:
    places = {f"n{i:03}": node("") for i in range(200)}
    rows = drawing(elevation(places, {}).racks, {name: Cell("+", "", "PASS") for name in places})
    assert rows[0] == "no rack  200 of 200 nodes pass"
    assert rows[1].startswith("n000 ++++++++ ++++++++ ")
    assert sum(row.count("+") for row in rows) == 200


NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


@given(st.lists(NAMES, min_size=1, max_size=90, unique=True), NAMES, st.integers(8, 120), st.sampled_from(list(Mode)))
def test_no_line_is_wider_than_the_terminal_and_none_moves_it(
    names: list[str], rack: str, width: int, mode: Mode
) -> None:
    places = {name: node(rack, at % 5, slot=name) for at, name in enumerate(names)}
    shape = Rack(rack, names[0], names[-1], 9, {names[0]: RackSlot(8, 1, names[-1])})
    cells = dict.fromkeys(names, Cell("7", "", "61 C"))
    for line in drawing(elevation(places, {rack: shape}).racks, cells, width, mode):
        assert cell_len(line) <= width
        assert line.isprintable()
        assert line.isascii()
