"""Workers are started if they save more time than they take: not for nodes whose replies are short."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.tree import Tree
from rackcheck.run.look_ahead import CLEAR, COST, TRIED, WORKERS, Trial

seconds = st.floats(0, 10)


def trial(count: int, times: Iterable[float]) -> Trial:
    found = Trial(count)
    for each in times:
        found.add(each, Tree({}))
    return found


@given(st.integers(1, 8), st.lists(seconds, max_size=TRIED - 1), st.integers(1, 10_000))
def test_none_is_started_before_some_nodes_were_read(count: int, times: list[float], left: int) -> None:
    if trial(count, times).worth(left):
        assert len(times) >= CLEAR
        assert min(times[-CLEAR:]) * left > 4 * COST * count


def test_two_nodes_are_enough_if_they_are_clear() -> None:
    assert trial(2, [0.5, 0.2]).worth(62)
    assert not trial(2, [0.5]).worth(63)
    assert not trial(2, [0.5, 0.1]).worth(62), "worth it, but not clear"
    assert not trial(2, [0.5, 0.005]).worth(62)


@given(st.integers(1, 8), st.lists(seconds, min_size=TRIED, max_size=20), st.integers(1, 10_000))
def test_they_are_started_only_for_more_time_than_they_take(count: int, times: list[float], left: int) -> None:
    if trial(count, times).worth(left):
        assert max(times[-TRIED:]) * left > COST * count


def test_a_rack_of_large_machines_has_workers_and_a_hall_of_small_ones_has_none() -> None:
    large, small = [0.5, *[0.2] * 4], [0.5, *[0.005] * 4]
    assert trial(2, large).worth(59)
    assert not trial(2, small).worth(195)
    assert trial(2, small).worth(10_000)
    assert not trial(0, large).worth(10_000), "one core"
    assert trial(2, [0.0, 0.0, *large]).worth(59), "two nodes that did not answer"
    assert not trial(2, [0.5, 0.0]).worth(62), "the second node did not answer"
    assert not trial(2, [*large, *small[1:]]).worth(195), "the newest nodes count"


@pytest.mark.parametrize(("given_count", "expected"), [("0", False), ("3", True)])
def test_a_number_of_the_user_is_always_right(
    given_count: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WORKERS, given_count)
    assert Trial(int(given_count)).worth(1) is expected
