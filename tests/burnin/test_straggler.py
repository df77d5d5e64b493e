"""GPUs compared with their peers: which are slow, which are fine, and which cannot be judged."""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rackcheck.parse.burnin.straggler import Fleet, Measured, PeerComparison, StragglerOutcome, judge

SLOW, FINE, NOT_TESTED = StragglerOutcome.SLOW, StragglerOutcome.FINE, StragglerOutcome.NOT_TESTED
Bend = Callable[[str, str], tuple[float, float]]
"""Factors on the clock and the work per clock of a GPU."""


def straight(_node: str, _slot: str) -> tuple[float, float]:
    return 1.0, 1.0


def rack(seed: int, bend: Bend = straight, nodes: int = 16, slots: int = 8) -> list[Measured]:
    """A rack with the spreads of the simulation from which the limits were chosen."""
    rng = random.Random(seed)
    places = [1 + rng.gauss(0, 0.015) for _ in range(slots)]
    gpus = []
    for n in range(nodes):
        own = 1 + rng.gauss(0, 0.005)
        for s in range(slots):
            node, slot = f"n{n:02}", f"gpu/{s}"
            clock, work = bend(node, slot)
            clock *= 1.6e9 * places[s] * own * (1 + rng.gauss(0, 0.01))
            gpus.append(Measured(node, slot, clock * work * 4e5 * (1 + rng.gauss(0, 0.002)), clock))
    return gpus


def even(nodes: int = 16, slots: int = 8) -> list[Measured]:
    return [Measured(f"n{n:02}", f"gpu/{s}", 7e14, 1.6e9) for n in range(nodes) for s in range(slots)]


def by_place(held: tuple[PeerComparison, ...]) -> Mapping[tuple[str, str], PeerComparison]:
    return {(one.node, one.slot): one for one in held}


def slow(held: tuple[PeerComparison, ...]) -> list[tuple[str, str]]:
    return [(one.node, one.slot) for one in held if one.outcome is SLOW]


def at(node: str, slot: str, clock: float = 1.0, work: float = 1.0) -> Bend:
    return lambda n, s: (clock, work) if node in ("", n) and slot in ("", s) else (1.0, 1.0)


@pytest.mark.parametrize("seed", range(20))
def test_only_a_gpu_that_does_less_per_clock_is_named(seed: int) -> None:
    found = judge(rack(seed, at("n05", "gpu/3", work=0.96)))
    assert slow(found.work_per_clock) == [("n05", "gpu/3")]
    assert by_place(found.work_per_clock)["n05", "gpu/3"].effect == pytest.approx(-0.04, abs=0.01)


@pytest.mark.parametrize("seed", range(20))
def test_a_gpu_whose_clock_is_low_does_no_less_per_clock(seed: int) -> None:
    found = judge(rack(seed, at("n05", "gpu/3", clock=0.85)))
    assert slow(found.work_per_clock) == []
    assert ("n05", "gpu/3") in slow(found.rate)
    assert [(one.node, one.slot) for one in found.rate if one.far is SLOW] == [("n05", "gpu/3")]


@pytest.mark.parametrize("seed", range(20))
def test_a_hot_slot_is_attributed_to_the_slot_and_to_no_gpu(seed: int) -> None:
    found = judge(rack(seed, at("", "gpu/5", clock=0.9)))
    assert ("", "gpu/5") in slow(found.slots)
    assert not [place for place, one in by_place(found.rate).items() if one.far is SLOW]


@pytest.mark.parametrize("seed", range(20))
def test_a_slow_node_is_attributed_to_the_node_and_to_no_gpu(seed: int) -> None:
    found = judge(rack(seed, at("n07", "", clock=0.9)))
    assert slow(found.nodes) == [("n07", "")]
    assert not [place for place, one in by_place(found.rate).items() if one.far is SLOW]


def test_equal_values_flag_none() -> None:
    found = judge(even())
    rows = [*found.work_per_clock, *found.rate, *found.slots, *found.nodes]
    assert {(one.outcome, one.far) for one in rows} == {(FINE, FINE)}


def test_one_that_is_slow_among_equal_ones_is_found_though_they_have_no_spread() -> None:
    gpus = even()
    gpus[9] = replace(gpus[9], rate=0.95 * 7e14)
    found = judge(gpus)
    assert slow(found.work_per_clock) == slow(found.rate) == [("n01", "gpu/1")]
    assert all(one.z is not None and math.isfinite(one.z) for one in found.rate)


def test_a_difference_too_small_to_matter_is_none_however_sure() -> None:
    gpus = even()
    gpus[9] = replace(gpus[9], rate=0.995 * 7e14)
    found = judge(gpus)
    assert (found.work_per_clock[9].outcome, found.rate[9].outcome) == (FINE, FINE)


def test_a_fifth_of_a_rack_that_is_silent_leaves_the_rest_judged() -> None:
    gpus = [replace(g, rate=None) if n % 5 == 2 else g for n, g in enumerate(rack(6, at("n05", "gpu/3", work=0.96)))]
    found = judge(gpus)
    assert slow(found.work_per_clock) == [("n05", "gpu/3")]
    rows = [one.outcome for one, g in zip(found.work_per_clock, gpus, strict=True) if g.rate is not None]
    assert rows.count(FINE) == len(rows) - 1


def test_two_fifths_of_a_fleet_that_do_less_per_clock_are_all_named() -> None:
    gpus = rack(4, lambda n, s: (1.0, 0.95 if n < "n06" else 1.0))
    assert {node for node, _ in slow(judge(gpus).work_per_clock)} == {f"n{n:02}" for n in range(6)}


def test_under_sixteen_gpus_nothing_is_judged_and_the_reason_is_stated() -> None:
    found = judge(even(nodes=3, slots=5))
    for one in (*found.work_per_clock, *found.rate, *found.slots, *found.nodes):
        assert (one.outcome, one.far, one.effect) == (NOT_TESTED, NOT_TESTED, None)
        assert "at least 16" in one.why
        assert one.why.startswith("15 GPUs")


def test_a_fleet_with_fifteen_readings_is_too_small_however_many_are_expected() -> None:
    gpus = [g if n < 15 else replace(g, rate=None) for n, g in enumerate(even())]
    assert {one.why.split(":")[0] for one in judge(gpus).work_per_clock} == {"15 GPUs report work per clock"}
    assert {one.why.split(":")[0] for one in judge(gpus).rate} == {"15 GPUs report a rate"}


@pytest.mark.parametrize("nothing", [None, math.nan, -1.0, 0.0, math.inf, -math.inf])
def test_what_is_no_positive_number_is_not_tested_and_never_fine(nothing: float | None) -> None:
    gpus = rack(1)
    gpus[17] = replace(gpus[17], rate=nothing)
    gpus[40] = replace(gpus[40], clock=nothing)
    found = judge(gpus)
    assert [found.work_per_clock[n].outcome for n in (17, 40)] == [NOT_TESTED, NOT_TESTED]
    assert {found.work_per_clock[n].why for n in (17, 40)} == {"work per clock is not reported"}
    assert found.rate[17].outcome is NOT_TESTED
    assert found.rate[17].why == "a rate is not reported"
    assert found.rate[40].outcome is FINE


def test_nodes_of_one_gpu_are_held_against_each_other() -> None:
    gpus = rack(2, at("n09", "gpu/0", clock=0.9), nodes=32, slots=1)
    found = judge(gpus)
    assert slow(found.rate) == [("n09", "gpu/0")]
    assert {one.outcome for one in found.nodes} == {NOT_TESTED}


def test_a_slow_node_among_two_is_not_blamed() -> None:
    found = judge(rack(3, at("n01", "", clock=0.9), nodes=2))
    assert {one.outcome for one in found.nodes} == {NOT_TESTED}
    assert {one.why for one in found.nodes} == {"2 nodes to compare: at least 3 needed to find a slow one"}


def test_a_duplicate_gpu_is_refused() -> None:
    with pytest.raises(ValueError, match="n00 gpu/0 is listed twice"):
        judge([*even(), even()[0]])


RATES = st.floats(0.7, 1.05) | st.sampled_from([1.0, 0.99, 0.97, 0.96, 0.95, 0.9])


@st.composite
def fleets(draw: st.DrawFn) -> list[Measured]:
    nodes, slots = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    seed = draw(st.integers(0, 10_000))
    bends = draw(st.dictionaries(st.tuples(st.integers(0, nodes - 1), st.integers(0, slots - 1)), RATES, max_size=6))
    gpus = rack(seed, nodes=nodes, slots=slots)
    for (n, s), factor in bends.items():
        gpus[n * slots + s] = replace(gpus[n * slots + s], rate=(gpus[n * slots + s].rate or 0) * factor)
    return gpus


def outcomes(found: Fleet) -> dict[tuple[str, str, str], tuple[StragglerOutcome, StragglerOutcome]]:
    groups = {"clock": found.work_per_clock, "rate": found.rate, "slot": found.slots, "node": found.nodes}
    return {(kind, one.node, one.slot): (one.outcome, one.far) for kind, rows in groups.items() for one in rows}


@given(fleets(), st.data())
def test_the_order_of_the_gpus_changes_nothing(gpus: list[Measured], data: st.DataObject) -> None:
    assert outcomes(judge(gpus)) == outcomes(judge(data.draw(st.permutations(gpus))))


@given(fleets(), st.sampled_from([1e-12, 0.5, 3.0, 1e9]), st.sampled_from([1e-9, 2.0, 1e6]))
def test_a_factor_that_is_the_same_for_all_changes_nothing(gpus: list[Measured], by: float, ticks: float) -> None:
    scaled = [replace(g, rate=(g.rate or 0) * by, clock=(g.clock or 0) * ticks) for g in gpus]
    assert outcomes(judge(gpus)) == outcomes(judge(scaled))


@settings(max_examples=300)
@given(fleets(), st.data())
def test_a_value_taken_away_turns_no_outcome_but_to_not_tested(gpus: list[Measured], data: st.DataObject) -> None:
    assume(len(gpus) >= 16)
    taken = data.draw(st.sets(st.integers(0, len(gpus) - 1), max_size=len(gpus) // 3))
    clocks = data.draw(st.booleans())
    less = [
        g if n not in taken else replace(g, clock=None) if clocks else replace(g, rate=None) for n, g in enumerate(gpus)
    ]
    before, after = outcomes(judge(gpus)), outcomes(judge(less))
    for place, pair in after.items():
        for old, new in zip(before[place], pair, strict=True):
            assert new in (old, NOT_TESTED), place


@pytest.mark.slow
def test_a_thousand_clean_racks_have_no_gpu_that_does_less_per_clock_and_none_that_is_far_off() -> None:
    rates = 0
    for seed in range(1000):
        found = judge(rack(100_000 + seed))
        assert slow(found.work_per_clock) == []
        assert slow(found.nodes) == []
        assert not [one for one in (*found.work_per_clock, *found.rate, *found.nodes) if one.far is not FINE]
        rates += len(slow(found.rate))
    assert rates <= 300
