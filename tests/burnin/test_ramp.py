"""The schedule of starts: never above a budget, never faster than the rate, every node started, always in one order."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ramp_clock import Loaded, clocked

from rackcheck.burnin.ramp import (
    PERIOD,
    STEP_NODES,
    STEP_WATTS,
    NodeLoad,
    PowerLimits,
    Ramp,
    ordered,
    problems,
    together,
)

SECONDS_15 = 15_000


def faults(found: Sequence[Loaded], limits: PowerLimits) -> list[str]:
    """Return every way in which loads break their limits."""
    wrong: list[str] = []
    for one in found:
        held = [other.load for other in found if other.begin <= one.begin < other.end]
        if limits.total is not None and sum(load.watts for load in held) > limits.total:
            wrong.append(f"above the budget at {one.begin}")
        for kind, budgets in (("rack", limits.racks), ("pdu", limits.pdus)):
            used: Counter[str] = Counter()
            for load in held:
                used[getattr(load, kind)] += load.watts
            wrong += [f"above {kind} {name} at {one.begin}" for name, most in budgets.items() if used[name] > most]
        second = [other.load.watts for other in found if one.begin - PERIOD < other.begin <= one.begin]
        if not limits.in_step and sum(second) > limits.rate:
            wrong.append(f"too many watts in the second before {one.begin}")
        if not limits.in_step and len(second) > STEP_NODES:
            wrong.append(f"too many nodes in the second before {one.begin}")
    return wrong


@st.composite
def plans(draw: st.DrawFn) -> tuple[Ramp, Mapping[str, int | None], Mapping[str, int]]:
    """A schedule that can be kept, and the times that its nodes take to connect and to run."""
    count = draw(st.integers(1, 40))
    racks, pdus = ["", "a01", "a02", "a03"], ["", "p", "q"]
    loads = [
        NodeLoad(f"n{n:03}", draw(st.integers(1, 30_000)), draw(st.sampled_from(racks)), draw(st.sampled_from(pdus)))
        for n in range(count)
    ]
    most = max(load.watts for load in loads)
    budget = st.one_of(st.none(), st.integers(most, 4 * most))

    def budgets(names: list[str]) -> dict[str, int]:
        drawn = {name: draw(budget) for name in names}
        return {name: watts for name, watts in drawn.items() if watts is not None}

    limits = PowerLimits(draw(st.integers(most, STEP_WATTS)), draw(budget), budgets(racks), budgets(pdus))
    connect = {load.name: draw(st.one_of(st.none(), st.integers(0, 5000))) for load in loads}
    length = {load.name: draw(st.integers(1, 60_000)) for load in loads}
    return Ramp.of(loads, limits), connect, length


@given(plans())
@settings(max_examples=150)
def test_no_limit_is_ever_broken_and_every_node_that_connects_is_started_once(
    plan: tuple[Ramp, Mapping[str, int | None], Mapping[str, int]],
) -> None:
    ramp, connect, length = plan
    found = clocked(ramp, connect, length)
    assert faults(found, ramp.limits) == []
    assert sorted(one.load.name for one in found) == sorted(n for n, after in connect.items() if after is not None)
    assert clocked(ramp, connect, length) == found, "the order is not the same again"


@given(plans())
@settings(max_examples=50)
def test_the_checks_of_this_test_find_a_schedule_that_breaks_a_limit(
    plan: tuple[Ramp, Mapping[str, int | None], Mapping[str, int]],
) -> None:
    ramp, _, length = plan
    loads = ramp.loads
    at_once = [Loaded(load, 0, length[load.name]) for load in loads]
    total = sum(load.watts for load in loads)
    assert any("budget" in each for each in faults(at_once, PowerLimits(total, total - 1)))
    assert any("watts" in each for each in faults(at_once, PowerLimits(total - 1)))
    assert (len(loads) > STEP_NODES) == any("nodes" in each for each in faults(at_once, PowerLimits(total)))
    rack = loads[0].rack
    used = sum(load.watts for load in loads if load.rack == rack)
    assert any("rack" in each for each in faults(at_once, PowerLimits(total, racks={rack: used - 1})))
    pdu = loads[0].pdu
    used = sum(load.watts for load in loads if load.pdu == pdu)
    assert any("pdu" in each for each in faults(at_once, PowerLimits(total, pdus={pdu: used - 1})))


def alike(count: int, watts: int = 10_000) -> list[NodeLoad]:
    return [NodeLoad(f"n{n:04}", watts, f"r{n // 4:03}", "pq"[n % 2]) for n in range(count)]


def times(loads: Sequence[NodeLoad], limits: PowerLimits, connect: int = 0, length: int = SECONDS_15) -> list[Loaded]:
    ramp = Ramp.of(loads, limits)
    return clocked(ramp, dict.fromkeys(ramp.states, connect), dict.fromkeys(ramp.states, length))


def test_by_default_ten_nodes_or_a_hundred_kilowatts_start_in_a_second() -> None:
    small, large = (times(alike(120, watts), PowerLimits()) for watts in (100, 14_300))
    assert [sum(one.begin // 1000 == second for one in small) for second in range(12)] == [10] * 12
    assert [sum(one.begin // 1000 == second for one in large) for second in range(17)] == [6] * 17


def test_few_nodes_start_half_a_second_apart_so_that_their_stages_do_not_change_together() -> None:
    assert [one.begin for one in times(alike(4), PowerLimits())] == [0, 500, 1000, 1500]


def test_a_budget_lets_the_next_node_start_only_when_another_has_ended() -> None:
    found = times(alike(5), PowerLimits(total=20_000))
    assert [one.begin for one in found] == [0, 500, 15_000, 15_500, 30_000]


def test_nodes_start_rack_after_rack_and_alternately_from_the_pdus_of_a_rack() -> None:
    loads = [NodeLoad(name, 1, rack, pdu) for name, rack, pdu in (
        ("a", "r1", "p"), ("b", "r1", "p"), ("c", "r2", "p"), ("d", "r1", "q"), ("e", "r1", "q"), ("f", "r2", "q"),
    )]  # fmt: skip
    assert [load.name for load in ordered(loads)] == ["a", "d", "b", "e", "c", "f"]
    assert [one.load.name for one in times(loads, PowerLimits())] == ["a", "d", "b", "e", "c", "f"]


def test_a_full_rack_does_not_hold_up_the_nodes_of_another() -> None:
    found = times(alike(8), PowerLimits(racks={"r000": 10_000}))
    assert [one.load.name for one in found][:5] == ["n0000", "n0004", "n0005", "n0006", "n0007"]
    assert [one.begin // SECONDS_15 for one in found if one.load.rack == "r000"] == [0, 1, 2, 3]


def test_in_step_all_connected_nodes_start_at_the_same_moment() -> None:
    ramp = Ramp.of(alike(100), PowerLimits(in_step=True))
    connect = {name: 10 * number for number, name in enumerate(ramp.states)} | {"n0005": None}
    found = clocked(ramp, connect, dict.fromkeys(ramp.states, SECONDS_15))
    assert len(found) == 99
    assert {one.begin for one in found} == {10_000}, "the time at which the last node gave up"


def test_what_can_never_be_kept_is_refused_with_the_name_of_the_node_and_the_budget() -> None:
    loads = [NodeLoad("n1", 14_300, "a01", "p"), NodeLoad("n2", 5_000, "a01", "p")]
    for text, limits in {
        "n1 needs 14.3 kW, more than the power budget of 8 kW": PowerLimits(total=8_000),
        "n1 needs 14.3 kW, more than the power budget of 10 kW of rack a01": PowerLimits(racks={"a01": 10_000}),
        "n1 needs 14.3 kW, more than the power budget of 9 kW of PDU p": PowerLimits(pdus={"p": 9_000}),
        "n1 needs 14.3 kW, more than the 14 kW that may be added per second": PowerLimits(14_000),
        "the nodes need 19.3 kW together, more than the power budget of 19 kW": PowerLimits(total=19_000, in_step=True),
    }.items():
        assert problems(loads, limits) == [text]
        with pytest.raises(ValueError, match="more than"):
            Ramp.of(loads, limits)
    assert problems(loads, PowerLimits(14_300, 14_300, {"a01": 14_300}, {"p": 14_300})) == []
    assert problems(loads, PowerLimits(1, 19_300, in_step=True)) == []


@given(plans())
def test_no_more_nodes_and_watts_are_ever_together_than_announced(
    plan: tuple[Ramp, Mapping[str, int | None], Mapping[str, int]],
) -> None:
    ramp, connect, length = plan
    nodes, watts = together(ramp.loads, ramp.limits)
    found = clocked(ramp, connect, length)
    for one in found:
        held = [other.load.watts for other in found if other.begin <= one.begin < other.end]
        assert len(held) <= nodes
        assert sum(held) <= watts
    unbounded = replace(ramp.limits, total=None, racks={}, pdus={})
    assert together(ramp.loads, unbounded) == (len(ramp.loads), sum(load.watts for load in ramp.loads))
