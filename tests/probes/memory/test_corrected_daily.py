"""Errors per day since boot: a part of a day counts as one, so on at least one day there were as many."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.probe.join import mean_since_boot
from rackcheck_probes.memory.corrected_daily import DAY

LOST = Unknown(Reason.TIMEOUT)


@pytest.mark.parametrize(
    ("count", "uptime", "expected"),
    [(40, 86_412.77, 20), (40, 100.0, 40), (40, 86_400.0, 40), (3, 400_000.0, 0), (0, LOST, 0), (LOST, 100.0, LOST),
     (5, LOST, LOST), (Absent("no counter"), 100.0, Absent("no counter")), (7, 0.0, 7)],
)  # fmt: skip
def test_a_count_is_divided_by_the_days_that_began(count: Reading, uptime: Reading, expected: Reading) -> None:
    assert mean_since_boot(count, uptime, DAY) == expected


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=60), st.integers(1, 86_400))
def test_on_at_least_one_day_there_were_as_many(daily: list[int], seconds: int) -> None:
    uptime = (len(daily) - 1) * DAY + seconds
    mean = mean_since_boot(sum(daily), uptime, DAY)
    assert isinstance(mean, int)
    assert mean <= max(daily)


@pytest.mark.parametrize("replays", [150, 144, 174, 158, 145, 172, 162, 106])
def test_a_burst_while_a_link_trains_is_no_rate(replays: int) -> None:
    """The counts of eight recorded healthy H100s, five minutes after the boot."""
    assert mean_since_boot(replays, 300.0, 60.0, 60) in {1, 2}
