"""Parts that differ from most parts of their kind, and that nothing unknown decides."""

from collections.abc import Iterator, Mapping
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.probe.majority import unlike

LOST = Unknown(Reason.TIMEOUT, "no answer within 10 s")
NONE = Absent("not supported")


def odd(*values: Reading, kinds: str = "") -> list[tuple[str, ...] | Unknown]:
    """What each part is unlike in, by its value of one setting."""
    parts = dict(enumerate(values))
    settings = {"clock": {str(n): value for n, value in parts.items()}}
    return list(unlike({str(n): kinds[n : n + 1] for n in parts}, settings).values())


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((1, 1, 1, 1), ()), ((1, 1, 2, 1), (2,)), ((1, 2, 2, 2, 1), (0, 4)), ((1, 1, 2, 2), ()), ((1, 2, 3, 4), ()),
        ((1, 2), ()), ((1,), ()), ((), ()), ((NONE, NONE, NONE), ()),
    ],
)  # fmt: skip
def test_a_part_is_named_if_more_than_half_have_another_value(
    values: tuple[Reading, ...], named: tuple[int, ...]
) -> None:
    assert odd(*values) == [("clock",) if n in named else () for n in range(len(values))]


def test_parts_are_compared_within_their_kind_and_a_kind_of_two_has_no_majority() -> None:
    assert odd(1, 1, 1, 2, 2, 2, kinds="aaabbb") == [()] * 6
    assert odd(1, 1, 1, 2, 3, kinds="aaabb") == [()] * 5
    assert odd(1, 1, 1, 2, 2, 3, kinds="aaabbb") == [()] * 5 + [("clock",)]


def test_a_setting_that_one_part_lacks_is_unknown_there_and_not_a_difference() -> None:
    *others, last = odd(1, 1, 1, NONE)
    assert others == [()] * 3
    assert isinstance(last, Unknown)


def test_a_kind_that_is_not_known_and_parts_that_are_hidden_leave_everything_unknown() -> None:
    values: Mapping[str, Mapping[str, Reading]] = {"clock": {"0": 1, "1": 1, "2": 2}}
    assert set(unlike({"0": "a", "1": LOST, "2": "a"}, values).values()) == {LOST}
    assert set(unlike(dict.fromkeys("012", "a"), values, LOST).values()) == {LOST}


def completions(values: tuple[Reading, ...]) -> Iterator[tuple[Reading, ...]]:
    yield from product(*((1, 2, 3) if isinstance(value, Unknown) else (value,) for value in values))


@given(st.lists(st.sampled_from([1, 2, LOST]), max_size=6).map(tuple))
def test_a_result_is_known_only_if_every_value_of_the_unknown_settings_gives_it(values: tuple[Reading, ...]) -> None:
    rows = [odd(*row) for row in completions(values)]
    possible = [{row[number] for row in rows} for number in range(len(values))]
    for found, all_of_it in zip(odd(*values), possible, strict=True):
        assert isinstance(found, Unknown) or all_of_it == {found}
        assert not isinstance(found, Unknown) or len(all_of_it) > 1
