"""Parts that differ from most parts of their kind, and that nothing unknown decides."""

from collections.abc import Iterator, Mapping
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.probe.majority import Differences, facts_of, unlike

LOST = Unknown(Reason.TIMEOUT, "no answer within 10 s")
NONE = Absent("not supported")


Found = tuple[str, ...] | Unknown


def compared(values: tuple[Reading, ...], kinds: str = "") -> list[Differences]:
    """How each part differs, by its value of one setting."""
    parts = dict(enumerate(values))
    settings = {"clock": {str(n): value for n, value in parts.items()}}
    return list(unlike({str(n): kinds[n : n + 1] for n in parts}, settings).values())


def odd(*values: Reading, kinds: str = "") -> list[Found]:
    """What each part is unlike in, by its value of one setting."""
    return [each.doubt or tuple(each.values) for each in compared(values, kinds)]


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
    nothing = dict.fromkeys("012", Differences(doubt=LOST))
    assert unlike({"0": "a", "1": LOST, "2": "a"}, values) == nothing
    assert unlike(dict.fromkeys("012", "a"), values, LOST) == nothing


def test_a_known_difference_is_listed_although_another_setting_is_unknown() -> None:
    values: Mapping[str, Mapping[str, Reading]] = {
        "limit": {"0": 700.0, "1": 700.0, "2": 650.0},
        "payload": dict.fromkeys("012", LOST),
    }
    found = unlike(dict.fromkeys("012", "a"), values)
    assert found["2"] == Differences({"limit": "650; most: 700"}, LOST)
    assert found["0"] == found["1"] == Differences({}, LOST)
    assert list(facts_of("gpu", {"2": found["2"]})) == [
        ("gpu/2.unlike", LOST),
        ("gpu/2.unlike/limit.value", "650; most: 700"),
    ]


@pytest.mark.parametrize(
    ("own", "most", "shown"),
    [
        (True, False, "yes; most: no"), ((), ("3",), "none; most: 3"), (4.0, 2.5, "4; most: 2.5"),
        ("a", "b" * 200, f"a; most: {'b' * 119}…"), (("1", "2"), ("1", "2", "3"), "1, 2; most: 1, 2, 3"),
    ],
)  # fmt: skip
def test_a_difference_shows_both_values(own: Reading, most: Reading, shown: str) -> None:
    assert compared((own, most, most))[0].values == {"clock": shown}


def test_a_part_that_may_differ_differs_in_nothing_and_makes_no_majority_of_its_own() -> None:
    def found(values: str, apart: str) -> list[Found]:
        rows = {"mtu": dict(enumerate(values))}
        settings = {name: {str(n): value for n, value in row.items()} for name, row in rows.items()}
        both = unlike({str(n): "a" for n in range(len(values))}, settings, None, apart)
        return [each.doubt or tuple(each.values) for each in both.values()]

    assert found("aaab", "3") == [()] * 4
    assert found("aaba", "3") == [(), (), ("mtu",), ()]
    assert found("bba", "01") == [()] * 3


def completions(values: tuple[Reading, ...]) -> Iterator[tuple[Reading, ...]]:
    yield from product(*((1, 2, 3) if isinstance(value, Unknown) else (value,) for value in values))


@given(st.lists(st.sampled_from([1, 2, LOST]), max_size=6).map(tuple), st.sets(st.sampled_from("012345")))
def test_the_law_holds_with_parts_that_may_differ(values: tuple[Reading, ...], apart: set[str]) -> None:
    def found(row: tuple[Reading, ...]) -> list[Differences]:
        kinds = {str(n): "a" for n in range(len(row))}
        return list(unlike(kinds, {"clock": {str(n): value for n, value in enumerate(row)}}, None, apart).values())

    rows = [found(row) for row in completions(values)]
    for number, each in enumerate(found(values)):
        assert all(each.values.items() <= row[number].values.items() for row in rows)
        assert each.doubt or all(row[number].values == each.values for row in rows)


@given(st.lists(st.sampled_from([1, 2, LOST]), max_size=6).map(tuple))
def test_a_result_is_known_only_if_every_value_of_the_unknown_settings_gives_it(values: tuple[Reading, ...]) -> None:
    rows = [compared(row) for row in completions(values)]
    for number, found in enumerate(compared(values)):
        possible = [row[number].values for row in rows]
        assert all(found.values.items() <= each.items() for each in possible)
        assert found.doubt or all(each == found.values for each in possible)
        assert not found.doubt or len({tuple(each) for each in possible}) > 1
