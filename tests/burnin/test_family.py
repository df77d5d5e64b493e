"""GPUs compared with their peers in several metrics: what is slow, what is fine, and how far chance may go."""

import importlib.util
import math
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackcheck.parse.burnin import tails
from rackcheck.parse.burnin.family import Compared, GpuPlace, PeerMetric, compare
from rackcheck.parse.burnin.spans import NumberRange, width
from rackcheck.parse.burnin.straggler import StragglerOutcome

SLOW, FINE, NOT_TESTED = StragglerOutcome.SLOW, StragglerOutcome.FINE, StragglerOutcome.NOT_TESTED
NAMES = ("work", "rate", "copy", "verify", "h2d", "d2h", "peer", "heat")
Values = Mapping[str, list[float | None]]


def places(nodes: int, slots: int) -> list[GpuPlace]:
    return [(f"n{n:03}", str(s)) for n in range(nodes) for s in range(slots)]


def normal(seed: int, gpus: int, spread: float = 0.015) -> dict[str, list[float | None]]:
    rng = random.Random(seed)
    return {name: [100 * math.exp(rng.gauss(0, spread)) for _ in range(gpus)] for name in NAMES}


def metrics(values: Values) -> dict[str, PeerMetric]:
    return {name: PeerMetric(each, 0.03, placed=name == "rate") for name, each in values.items()}


def outcomes(at: list[GpuPlace], values: Values) -> dict[tuple[str, GpuPlace], StragglerOutcome]:
    found = compare(at, metrics(values))
    return {(name, place): one.outcome for name, held in found.items() for place, one in zip(at, held, strict=True)}


def bad(found: Mapping[str, tuple[Compared, ...]]) -> list[tuple[str, int]]:
    return [(name, n) for name, held in found.items() for n, one in enumerate(held) if one.outcome is SLOW]


# ---- what is found ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", ["work", "rate"])
def test_a_gpu_that_is_twelve_percent_worse_is_named_among_128_and_no_other(seed: int, name: str) -> None:
    values = normal(seed, 128)
    values[name][45] = 0.88 * 100
    assert bad(compare(places(16, 8), metrics(values))) == [(name, 45)]


@pytest.mark.parametrize("gpus", range(2, 16))
def test_from_two_gpus_on_a_gpu_at_three_quarters_of_its_peers_is_named_and_one_at_95_percent_is_not(gpus: int) -> None:
    at = [("n1", str(slot)) for slot in range(gpus)]
    for share, named in ((0.75, [("rate", 1)]), (0.95, [])):
        values = [100.0] * gpus
        values[1] *= share
        assert bad(compare(at, {"rate": PeerMetric(values, 0.03)})) == named


def test_a_spread_that_several_gpus_show_is_no_finding() -> None:
    """Four or more GPUs show their own spread; it counts if it is larger than the typical one."""
    at = [("n1", str(slot)) for slot in range(8)]
    values = [100.0, 80.0, 125.0, 70.0, 110.0, 90.0, 135.0, 75.0]
    assert bad(compare(at, {"rate": PeerMetric(values, 0.03)})) == []


def test_a_single_gpu_has_no_peers() -> None:
    (held,) = compare([("n1", "0")], {"rate": PeerMetric([1.0], 0.03)})["rate"]
    assert (held.outcome, held.why) == (NOT_TESTED, "no peers")


@pytest.mark.parametrize("effect", [0.95, 0.96])
def test_two_fifths_of_a_fleet_that_are_worse_are_all_named_though_their_values_look_like_heavy_tails(
    effect: float,
) -> None:
    values = normal(3, 128, 0.002)
    values["work"] = [(value or 0) * (effect if n < 48 else 1) for n, value in enumerate(values["work"])]
    found = bad(compare(places(16, 8), metrics(values)))
    assert found == [("work", n) for n in range(48)]


def test_a_difference_below_the_least_effect_is_none_however_sure() -> None:
    values: Values = {"work": [100.0] * 32}
    values["work"][7] = 97.5
    assert bad(compare(places(4, 8), metrics(values))) == []
    values["work"][7] = 96.5
    assert bad(compare(places(4, 8), metrics(values))) == [("work", 7)]


def test_a_slow_slot_and_a_slow_node_are_no_fault_of_their_gpus() -> None:
    values = normal(5, 128)
    for n, (node, slot) in enumerate(places(16, 8)):
        values["rate"][n] = (values["rate"][n] or 0) * (0.85 if slot == "5" or node == "n007" else 1.0)
    assert bad(compare(places(16, 8), metrics(values))) == []
    unplaced = {"rate": PeerMetric(values["rate"], 0.03)}
    assert {n for _, n in bad(compare(places(16, 8), unplaced))} >= {
        n for n in range(128) if n % 8 == 5 and n // 8 != 7
    }


# ---- tails -----------------------------------------------------------------------------------------------------------


def test_heavy_tails_in_the_values_widen_the_bound_and_normal_ones_narrow_it() -> None:
    rng = random.Random(1)
    at = places(16, 8)
    heavy: Values = {name: [math.exp(0.012 * student(rng)) for _ in at] for name in NAMES}
    limits = {
        kind: compare(at, metrics(values))["work"][0].limit for kind, values in (("t", heavy), ("n", normal(1, 128)))
    }
    assert limits["n"] is not None
    assert limits["t"] is not None
    assert limits["t"] < -0.15 < -0.09 < limits["n"] < -0.05


def test_a_single_metric_is_too_little_evidence_for_the_narrow_bound() -> None:
    values = normal(1, 128)
    alone = compare(places(16, 8), {"work": PeerMetric(values["work"], 0.03)})["work"][0].limit
    assert alone is not None
    assert alone < -0.15


def test_a_node_with_few_gpus_makes_the_bound_wider_for_its_own_gpus_alone() -> None:
    at = places(9, 8)
    values = normal(3, len(at))
    before = compare(at, metrics(values))
    small = [n for n, (node, slot) in enumerate(at) if node != at[0][0] or int(slot) < 3]
    kept = {name: [column[n] for n in small] for name, column in values.items()}
    after = compare([at[n] for n in small], metrics(kept))
    for name, metric in metrics(values).items():
        if metric.placed:
            # Limits are relative differences below zero.
            limits, whole = ([one.limit or 0.0 for one in found[name]] for found in (after, before))
            assert max(limits[:3]) < 1.3 * min(limits[3:])
            assert min(limits[3:]) > 1.2 * min(whole)


def student(rng: random.Random) -> float:
    return rng.gauss(0, 1) / math.sqrt(rng.gammavariate(2.5, 2) / 5)


@pytest.mark.parametrize(
    ("freedom", "share", "value"), [(10, 0.0005, 4.587), (30, 0.0005, 3.646), (60, 0.005, 2.660), (120, 0.0005, 3.373)]
)
def test_quantiles_of_student_are_those_of_the_printed_tables(freedom: int, share: float, value: float) -> None:
    assert tails.student_quantile(share, freedom) == pytest.approx(value, rel=0.003)


@pytest.mark.parametrize(("share", "value"), [(0.05, 2.015), (0.025, 2.571), (0.005, 4.032), (0.0005, 6.869)])
def test_quantiles_of_five_degrees_of_freedom_are_those_of_the_printed_tables(share: float, value: float) -> None:
    assert tails.t5_quantile(share) == pytest.approx(value, abs=0.001)


@given(st.integers(2, 5000), st.integers(1, 5000))
def test_the_bound_grows_with_the_fleet_and_the_narrow_one_is_never_the_wider(cells: int, freedom: int) -> None:
    narrow, wide = (tails.bound(cells, freedom, narrow=narrow) for narrow in (True, False))
    assert 0 < narrow <= wide
    assert tails.known_bound(cells) < tails.known_bound(cells + 1)


@pytest.mark.parametrize("fewest", tails.WIDER)
def test_the_fewer_gpus_there_are_the_wider_the_bound_is_beside_that_of_a_known_width(fewest: int) -> None:
    factors = [tails.wider(cells, fewest) for cells in range(16, 2000)]
    assert factors == sorted(factors, reverse=True)
    assert all(tails.wider(size, fewest) == factor for size, factor in tails.WIDER[fewest].items())


@given(st.integers(16, 5000), st.integers(3, 100))
def test_the_bound_is_wider_the_fewer_values_a_level_has(cells: int, fewest: int) -> None:
    assert tails.wider(cells, fewest) >= tails.wider(cells, fewest + 1)


def test_levels_of_three_values_make_the_wide_bound_wider_than_levels_of_eight() -> None:
    """With three nodes, a third of the differences is 0, so that the width is too small."""
    limits = {}
    for nodes, slots in ((3, 16), (6, 8)):
        at = places(nodes, slots)
        held = compare(at, {"rate": PeerMetric(normal(1, 48)["rate"], 0.03, placed=True)})["rate"]
        limits[nodes] = held[0].limit
    assert limits[3] is not None
    assert limits[6] is not None
    assert limits[3] < limits[6]


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=40), st.data())
def test_a_width_never_falls_if_a_value_moves_away(values: list[float], data: st.DataObject) -> None:
    n = data.draw(st.integers(0, len(values) - 1))
    more = [value * (data.draw(st.floats(1, 100)) if at == n else 1) for at, value in enumerate(values)]
    before, after = (width([NumberRange(value, value) for value in each]) for each in (values, more))
    assert before.low == before.high
    assert after.low >= before.low * (1 - 1e-9)


# ---- laws ------------------------------------------------------------------------------------------------------------


@st.composite
def fleets(draw: st.DrawFn) -> tuple[list[GpuPlace], dict[str, list[float | None]]]:
    nodes, slots = draw(st.sampled_from([(1, 2), (1, 8), (2, 8), (3, 8), (20, 1), (8, 8)]))
    values = normal(draw(st.integers(0, 1000)), nodes * slots)
    for name, n, share in draw(
        st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, nodes * slots - 1), st.floats(0.1, 1.1)), max_size=6)
    ):
        values[name][n] = (values[name][n] or 0) * share
    return places(nodes, slots), values


@settings(max_examples=60)
@given(fleets(), st.randoms(use_true_random=False))
def test_the_order_of_the_gpus_changes_nothing(
    fleet: tuple[list[GpuPlace], dict[str, list[float | None]]], rng: random.Random
) -> None:
    at, values = fleet
    order = list(range(len(at)))
    rng.shuffle(order)
    turned = {name: [each[n] for n in order] for name, each in values.items()}
    assert outcomes(at, values) == outcomes([at[n] for n in order], turned)


@settings(max_examples=60)
@given(fleets(), st.sampled_from([1e-12, 0.5, 3.0, 1e9]))
def test_a_factor_that_is_the_same_for_all_changes_nothing(
    fleet: tuple[list[GpuPlace], dict[str, list[float | None]]], by: float
) -> None:
    at, values = fleet
    scaled: Values = {name: [(value or 0) * by for value in each] for name, each in values.items()}
    assert outcomes(at, values) == outcomes(at, scaled)


@given(st.integers(1, 8), st.integers(1, 8), st.floats(1e-6, 1e6))
def test_an_equal_fleet_has_no_finding(nodes: int, slots: int, value: float) -> None:
    at = places(nodes, slots)
    found = outcomes(at, {name: [value] * len(at) for name in NAMES})
    assert set(found.values()) == ({FINE} if len(at) > 1 else {NOT_TESTED})


@pytest.mark.parametrize("nothing", [None, math.nan, -1.0, 0.0, math.inf, -math.inf])
@pytest.mark.parametrize("shape", [(1, 8), (16, 8)])
def test_a_value_that_is_not_known_is_not_tested_and_is_no_finding_of_any_other(
    nothing: float | None, shape: tuple[int, int]
) -> None:
    at = places(*shape)
    values = normal(2, len(at))
    values["rate"][3] = nothing
    found = outcomes(at, values)
    assert found.pop(("rate", at[3])) is NOT_TESTED
    assert set(found.values()) == {FINE}


@settings(max_examples=150)
@given(fleets(), st.data())
def test_a_value_taken_away_turns_no_outcome_but_to_not_tested(
    fleet: tuple[list[GpuPlace], dict[str, list[float | None]]], data: st.DataObject
) -> None:
    at, values = fleet
    most = max(1, len(at) // 4)
    gone = data.draw(st.sets(st.tuples(st.sampled_from(NAMES), st.integers(0, len(at) - 1)), max_size=most))
    less: Values = {
        name: [None if (name, n) in gone else value for n, value in enumerate(each)] for name, each in values.items()
    }
    before, after = outcomes(at, values), outcomes(at, less)
    for key, now in after.items():
        assert now in (before[key], NOT_TESTED), key


def test_a_gpu_between_the_bounds_is_not_tested_if_a_peer_is_silent_and_a_far_one_is_named() -> None:
    for share, outcome in ((0.88, NOT_TESTED), (0.7, SLOW)):
        values = normal(4, 128)
        values["work"][9] = 100 * share
        values["copy"][70] = None
        assert outcomes(places(16, 8), values)["work", places(16, 8)[9]] is outcome


def test_a_metric_that_is_no_evidence_may_be_silent_without_effect_on_others() -> None:
    values = normal(4, 128)
    values["work"][9] = 88.0
    given_metrics = metrics(values) | {"heat": PeerMetric([None] * 128, 0.03, evidence=False)}
    assert bad(compare(places(16, 8), given_metrics)) == [("work", 9)]


def test_bad_input_is_one_error() -> None:
    with pytest.raises(ValueError, match="n000 0 is listed twice"):
        compare([*places(1, 2), ("n000", "0")], {})
    with pytest.raises(ValueError, match="rate has 1 values for 2 GPUs"):
        compare(places(1, 2), {"rate": PeerMetric([1.0], 0.03)})
    with pytest.raises(ValueError, match="9 metrics; the bounds are computed for at most 8"):
        compare(places(1, 2), {str(n): PeerMetric([1.0, 1.0], 0.03) for n in range(9)})


# ---- the figures of the page -----------------------------------------------------------------------------------------


def benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "straggler.py"
    spec = importlib.util.spec_from_file_location("straggler_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_short_form_of_the_benchmark_keeps_the_goals_for_128_gpus() -> None:
    """60 racks: one healthy rack in 60 may have a finding, and 10 of 60 slow GPUs may be missed."""
    tally = benchmark().tally
    normal_parts, heavy = (
        tally(128, parts, 60, ["ours"])["ours"] for parts in (frozenset(), frozenset(range(tails.METRICS)))
    )
    assert max(normal_parts.false, heavy.false) <= 1
    assert normal_parts.found[1] >= 50
    assert heavy.found[2] >= 50


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "fewest"), [((64, 1), 0), ((128, 1), 0), ((3, 32), 3), ((8, 4), 4), ((8, 8), 6), ((16, 8), 6)]
)
def test_the_derived_bounds_are_wide_enough_for_racks_with_other_seeds(shape: tuple[int, int], fewest: int) -> None:
    """Within 3 %, as 1,000 racks give a factor within 1 %, and a bound that is 3 % closer has 15 % more findings."""
    needed = benchmark().factor(shape, fewest, 1000, "other ")
    assert tails.wider(shape[0] * shape[1], fewest) >= needed * 0.97


@pytest.mark.slow
def test_the_bound_of_racks_of_eight_nodes_is_too_close_for_racks_of_three() -> None:
    """The check above can fail."""
    assert tails.wider(24, 6) < benchmark().factor((3, 8), 3, 300, "other ") * 0.8


@pytest.mark.slow
def test_the_fixed_limits_that_the_bounds_replace_name_healthy_gpus() -> None:
    """The check above can fail: of 20 healthy racks with heavy tails, most have a finding by a fixed limit."""
    found = benchmark().tally(128, frozenset(range(tails.METRICS)), 20, ["z < -4, 1 %"])["z < -4, 1 %"]
    assert found.false > 10
