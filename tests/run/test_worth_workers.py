"""Workers are started if they save more time than they take: not for nodes whose replies are short."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from command import rackcheck
from hypothesis import given
from hypothesis import strategies as st
from mockup_server import WatchedRack

from rackcheck.model.tree import Tree
from rackcheck.run.look_ahead import CLEAR, COST, FEWEST, TRIED, WORKERS, Trial
from rackcheck.sim import scenario

seconds = st.floats(0, 10)


def trial(count: int, times: Iterable[float]) -> Trial:
    found = Trial(count)
    for each in times:
        found.add(each, Tree({}))
    return found


@given(st.integers(1, 8), st.lists(seconds, max_size=TRIED - 1), st.integers(0, 10_000))
def test_none_is_started_before_some_nodes_were_read(count: int, times: list[float], left: int) -> None:
    if trial(count, times).worth(left):
        assert len(times) >= CLEAR
        assert min(times[-CLEAR:]) * left > 4 * COST * count


def test_two_nodes_are_enough_if_they_are_clear() -> None:
    assert trial(2, [0.5, 0.2]).worth(62)
    assert not trial(2, [0.5]).worth(63)
    assert not trial(2, [0.5, 0.1]).worth(62), "worth it, but not clear"
    assert not trial(2, [0.5, 0.005]).worth(62)


@given(st.integers(1, 8), st.lists(seconds, min_size=TRIED, max_size=20), st.integers(0, 10_000))
def test_they_are_started_only_for_more_time_than_they_take(count: int, times: list[float], left: int) -> None:
    if trial(count, times).worth(left):
        assert max(times[-TRIED:]) * left > COST * count


@pytest.mark.parametrize("times", [[], [10.0], [10.0] * CLEAR, [10.0] * TRIED])
def test_none_is_started_after_the_last_node(times: list[float]) -> None:
    """An audit whose nodes were all read in its own process asks this once more after the last of them."""
    assert not trial(2, times).worth(0)


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


@pytest.mark.landing
def test_an_audit_of_many_small_nodes_goes_on_after_the_last_of_them(tmp_path: Path) -> None:
    file = tmp_path / "rack.yaml"
    file.write_text(f"rackcheck: 1\nscenario: small\nnodes: {{ 'n[1-{FEWEST}]': {{ machine: dgx-h100 }} }}\n")
    with WatchedRack(scenario.load(file), tmp_path) as up:
        done = rackcheck("audit", "-i", up.inventory, "-p", "linux-server", "--planes", "os", "-q")
    assert (done.status, done.err) == (0, "")
    assert f"PASS         {FEWEST}  n[01-{FEWEST}]" in done.out or f"PASS         {FEWEST}  n[1-{FEWEST}]" in done.out
