"""Which GPUs to pair in which round, and which end or link the rates of pairs identify."""

import random
from collections.abc import Mapping, Sequence
from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackcheck.parse.burnin.pairs import LinkEnds, PairOutcome, Solved, matchings, round_robin, solve

SLOW, FINE, NOT_TESTED = PairOutcome.SLOW, PairOutcome.FINE, PairOutcome.NOT_TESTED


def ends(count: int) -> list[str]:
    return [f"n{n:04}" for n in range(count)]


def rates(
    seed: int, rounds: Sequence[Sequence[LinkEnds]], slow: Mapping[str, float] | None = None, noise: float = 0.03
) -> dict[LinkEnds, float | None]:
    """Rates on a fabric where the slower end limits each pair."""
    rng = random.Random(seed)
    own = {end: 50e9 * (1 + rng.gauss(0, 0.01)) for end in sorted({end for r in rounds for pair in r for end in pair})}
    own |= {end: own[end] * factor for end, factor in (slow or {}).items()}
    return {pair: min(own[pair[0]], own[pair[1]]) * (1 + rng.gauss(0, noise)) for pair in chain(*rounds)}


def slow_ends(found: Solved) -> list[str]:
    return [end for end, one in found.ends.items() if one.outcome is SLOW]


def slow_links(found: Solved) -> list[LinkEnds]:
    return [pair for pair, one in found.links.items() if one.outcome is SLOW]


@given(st.integers(0, 40))
def test_a_round_robin_pairs_every_two_once_and_no_end_twice_in_a_round(count: int) -> None:
    rounds = round_robin(ends(count))
    met = [pair for r in rounds for pair in r]
    assert sorted(met) == sorted(combinations(ends(count), 2))
    assert len(rounds) == max(0, count - 1 if count % 2 == 0 else count)
    for r in rounds:
        assert len({end for pair in r for end in pair}) == 2 * len(r) == count - count % 2


@given(st.integers(0, 60), st.integers(0, 8), st.integers(0, 1000), st.randoms(use_true_random=False))
def test_matchings_are_whole_and_never_repeat_a_pair_and_follow_the_seed_alone(
    count: int, wanted: int, seed: int, rng: random.Random
) -> None:
    rounds = matchings(ends(count), wanted, seed)
    assert len(rounds) == min(wanted, len(round_robin(ends(count))))
    met = [pair for r in rounds for pair in r]
    assert len(met) == len(set(met))
    for r in rounds:
        assert len({end for pair in r for end in pair}) == 2 * len(r) == count - count % 2
    turned = ends(count)
    rng.shuffle(turned)
    assert matchings(turned, wanted, seed) == rounds


def test_another_seed_gives_other_pairs() -> None:
    assert matchings(ends(64), 6, 1) != matchings(ends(64), 6, 2)
    assert not {*matchings(ends(64), 6, 1)} & {*round_robin(ends(64))}


def test_a_duplicate_end_is_refused() -> None:
    with pytest.raises(ValueError, match="a is listed twice"):
        round_robin(["a", "b", "a"])
    with pytest.raises(ValueError, match="a is listed twice"):
        matchings(["a", "b", "a"], 1, 1)


def test_pairs_in_both_orders_or_of_one_end_are_refused() -> None:
    with pytest.raises(ValueError, match="both orders"):
        solve({("a", "b"): 1.0, ("b", "a"): 1.0})
    with pytest.raises(ValueError, match="a is paired with itself"):
        solve({("a", "a"): 1.0})


@pytest.mark.parametrize("seed", range(20))
def test_a_nic_that_is_a_fifth_slow_is_the_only_one_a_round_robin_names(seed: int) -> None:
    found = solve(rates(seed, round_robin(ends(64)), {"n0009": 0.8}))
    assert slow_ends(found) == ["n0009"]
    assert slow_links(found) == []
    assert found.ends["n0009"].effect == pytest.approx(-0.2, abs=0.04)
    assert found.level == pytest.approx(50e9, rel=0.03)


@pytest.mark.parametrize("seed", range(5))
def test_six_matchings_of_a_thousand_nodes_name_three_slow_nics_and_a_slow_link(seed: int) -> None:
    schedule = matchings(ends(1024), 6, seed)
    values = rates(seed, schedule, {"n0009": 0.8, "n0500": 0.8, "n0501": 0.7})
    link = schedule[0][7]
    values[link] = 0.6 * (values[link] or 0)
    found = solve(values)
    assert {"n0009", "n0500", "n0501"} == set(slow_ends(found))
    assert slow_links(found) == [link]


def test_equal_rates_name_no_end() -> None:
    found = solve(dict.fromkeys(chain(*round_robin(ends(8))), 5e10))
    assert {one.outcome for one in (*found.ends.values(), *found.links.values())} == {FINE}


def test_a_link_that_is_little_slower_among_equal_ones_is_fine() -> None:
    values: dict[LinkEnds, float | None] = dict.fromkeys(chain(*round_robin(ends(8))), 5e10)
    values["n0002", "n0005"] = 4.8e10
    assert {one.outcome for one in solve(values).links.values()} == {FINE}


def test_one_slow_link_among_equal_ones_is_the_links_and_not_its_ends() -> None:
    values: dict[LinkEnds, float | None] = dict.fromkeys(chain(*round_robin(ends(8))), 5e10)
    values["n0002", "n0005"] = 3e10
    found = solve(values)
    assert (slow_ends(found), slow_links(found)) == ([], [("n0002", "n0005")])


def test_three_ends_or_two_pairs_per_end_are_too_few_to_judge() -> None:
    found = solve({("a", "b"): 1.0, ("a", "c"): 1.0, ("b", "c"): 0.5})
    assert {one.outcome for one in (*found.ends.values(), *found.links.values())} == {NOT_TESTED}
    assert found.ends["a"].why == "3 ends have a rate: at least 4 are needed to find a slow one"
    found = solve(rates(1, matchings(ends(32), 2, 1), {"n0003": 0.5}))
    assert {one.outcome for one in found.ends.values()} == {NOT_TESTED}
    assert found.ends["n0003"].why.startswith("it is in 2 pairs")


def test_no_pairs_give_an_empty_result() -> None:
    assert solve({}) == Solved(None, {}, {})


@pytest.mark.parametrize("nothing", [None, 0.0, -1.0, float("nan"), float("inf")])
def test_a_pair_that_returned_no_rate_is_not_tested(nothing: float | None) -> None:
    values = rates(1, round_robin(ends(8)))
    values["n0002", "n0005"] = nothing
    found = solve(values)
    assert found.links["n0002", "n0005"].outcome is NOT_TESTED
    assert found.links["n0002", "n0005"].why == "no rate was reported"


@settings(max_examples=200)
@given(st.integers(0, 1000), st.integers(2, 10), st.sampled_from([0.5, 0.8, 0.9, 1.0]), st.data())
def test_a_pair_that_falls_silent_turns_no_outcome_but_to_not_tested(
    seed: int, count: int, factor: float, data: st.DataObject
) -> None:
    values = rates(seed, round_robin(ends(count)), {"n0001": factor})
    bent = data.draw(st.sampled_from(sorted(values)))
    values[bent] = (values[bent] or 0) * data.draw(st.sampled_from([0.5, 1.0]))
    less = values | dict.fromkeys(data.draw(st.sets(st.sampled_from(sorted(values)), max_size=5)))
    before, after = solve(values), solve(less)
    for end, one in after.ends.items():
        assert one.outcome in (before.ends[end].outcome, NOT_TESTED)
    for pair, one in after.links.items():
        assert one.outcome in (before.links[pair].outcome, NOT_TESTED)


@given(st.integers(0, 1000), st.sampled_from([1e-9, 3.0, 1e6]), st.randoms(use_true_random=False))
def test_neither_the_order_of_the_pairs_nor_a_factor_of_all_changes_an_outcome(
    seed: int, by: float, rng: random.Random
) -> None:
    values = rates(seed, matchings(ends(24), 6, seed), {"n0001": 0.85})
    turned = [(pair, (rate or 0) * by) for pair, rate in values.items()]
    rng.shuffle(turned)
    one, other = solve(values), solve(dict(turned))
    assert {end: j.outcome for end, j in one.ends.items()} == {end: j.outcome for end, j in other.ends.items()}
    assert {pair: j.outcome for pair, j in one.links.items()} == {pair: j.outcome for pair, j in other.links.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("count", "whole"), [(64, True), (64, False), (1024, False)])
def test_a_slow_nic_is_named_in_ninety_nine_of_a_hundred_fabrics(count: int, whole: bool) -> None:
    named = wrong = 0
    tries = 100 if count > 100 else 300
    for seed in range(tries):
        schedule = round_robin(ends(count)) if whole else matchings(ends(count), 6, seed)
        bad = random.Random(seed).choice(ends(count))
        found = solve(rates(seed, schedule, {bad: 0.8}))
        named += bad in slow_ends(found)
        wrong += len(set(slow_ends(found)) - {bad}) + len(slow_links(found))
    assert named >= 0.99 * tries
    assert wrong == 0
