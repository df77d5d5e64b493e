"""The upper quartile of measurements: of known ones, and its range if some are missing."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.parse.burnin.quartile import upper_quartile
from rackcheck.parse.burnin.spans import NumberRange

VALUES = st.lists(st.floats(0, 1e6), min_size=1, max_size=20)


def test_of_seven_gpus_four_may_be_slow_and_five_may_not() -> None:
    assert upper_quartile([10.0] * 4 + [100.0] * 3) == NumberRange(100.0, 100.0)
    assert upper_quartile([10.0] * 5 + [100.0] * 2) == NumberRange(10.0, 10.0)


@given(VALUES, VALUES)
def test_the_range_holds_the_quartile_whatever_the_missing_values_are(known: list[float], missing: list[float]) -> None:
    found, whole = upper_quartile(known, len(missing)), upper_quartile([*known, *missing])
    assert found.low <= whole.low == whole.high <= found.high


def test_with_too_many_missing_values_the_range_is_open_and_with_none_at_all_there_is_no_quartile() -> None:
    assert upper_quartile([5.0], 9) == NumberRange(0.0, math.inf)
    with pytest.raises(ValueError, match="no values"):
        upper_quartile([])
