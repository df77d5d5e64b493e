"""The limits of shards that start nodes on their own: together, they are the limits of the burn-in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.burnin.ramp import STEP_NODES, NodeLoad, PowerLimits, Ramp, problems
from rackcheck.burnin.shares import shares

node = st.tuples(st.integers(100, 20_000), st.sampled_from(["r1", "r2", ""]), st.sampled_from(["p1", "p2", ""]))
halls = st.lists(st.lists(node, min_size=1, max_size=6), min_size=1, max_size=STEP_NODES)


def hall(rows: list[list[tuple[int, str, str]]]) -> list[list[NodeLoad]]:
    return [
        [NodeLoad(f"n{shard}-{n}", watts, rack, pdu) for n, (watts, rack, pdu) in enumerate(row)]
        for shard, row in enumerate(rows)
    ]


@given(halls, st.integers(1_000, 300_000), st.integers(1_000, 300_000), st.integers(1_000, 100_000))
def test_together_they_keep_every_limit_and_each_node_can_start(
    rows: list[list[tuple[int, str, str]]], rate: int, total: int, rack: int
) -> None:
    shards = hall(rows)
    limits = PowerLimits(rate, total, {"r1": rack}, {"p2": rack})
    try:
        parts = shares(shards, limits)
    except ValueError as error:
        assert "plan fewer shards" in str(error)
        return
    assert sum(part.rate for part in parts) <= rate
    assert sum(part.total or 0 for part in parts) <= total
    assert sum(part.racks.get("r1", 0) for part in parts) <= rack
    assert sum(part.pdus.get("p2", 0) for part in parts) <= rack
    assert all(part.total is not None for part in parts)
    for loads, part in zip(shards, parts, strict=True):
        assert problems(loads, part) == []
        assert ("r1" in part.racks) == any(load.rack == "r1" for load in loads), "a budget that a shard does not have"


@given(halls)
def test_all_shards_together_start_at_most_ten_nodes_in_a_second(rows: list[list[tuple[int, str, str]]]) -> None:
    shards = hall(rows)
    starts: list[int] = []
    for loads, part in zip(shards, shares(shards, PowerLimits(rate=10**7)), strict=True):
        ramp, now = Ramp.of(loads, part), 0
        while not ramp.done:
            turn = ramp.turn(now)
            ramp = turn.ramp
            starts += [now] * len(turn.start)
            for name in turn.connect:
                ramp = ramp.connected(name)
            if not turn.start and not turn.connect and turn.wake is None:
                break
            now = turn.wake if turn.wake is not None and turn.wake > now else now + 1
    assert len(starts) == sum(map(len, shards))
    assert all(sum(at <= other < at + 1000 for other in starts) <= STEP_NODES for at in starts)


def test_more_shards_than_nodes_may_start_in_a_second_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 10 shards"):
        shares(hall([[(100, "", "")]] * 11), PowerLimits())
    with pytest.raises(ValueError, match=r"8 shards may each start .* 114.4 kW, more than .* 100 kW; plan fewer"):
        shares(hall([[(14_300, "", "")]] * 8), PowerLimits())
