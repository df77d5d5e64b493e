"""Tables split into parts: by medians where most was not measured, and as spans where a gap may be any value."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.parse.burnin.polish import polish, scale
from rackcheck.parse.burnin.spans import HOLE, CellTable, NumberRange, apart, middle

NUMBERS = st.floats(-10, 10)


def table(rows: dict[str, float], columns: dict[str, float], level: float = 0.0) -> dict[tuple[str, str], float]:
    return {(r, c): level + by + off for r, by in rows.items() for c, off in columns.items()}


def point(value: float) -> NumberRange:
    return NumberRange(value, value)


ROWS = {f"n{n}": (n - 3) / 10 for n in range(7)}
COLUMNS = {f"s{n}": (n - 2) / 4 for n in range(5)}


def test_effects_that_only_add_up_are_found_whole() -> None:
    found = polish(table(ROWS, COLUMNS, 5.0))
    assert found.level == pytest.approx(5.0)
    assert found.rows == pytest.approx(ROWS)
    assert found.columns == pytest.approx(COLUMNS)
    assert max(map(abs, found.left.values())) < 1e-9


def test_one_wild_cell_bends_no_effect_and_stands_in_what_is_left() -> None:
    cells = table(ROWS, COLUMNS, 5.0)
    cells["n4", "s1"] -= 3.0
    found = polish(cells)
    assert found.rows == pytest.approx(ROWS)
    assert found.left["n4", "s1"] == pytest.approx(-3.0)


def test_a_third_of_the_cells_may_be_missing() -> None:
    cells = table(ROWS, COLUMNS, 5.0)
    rng = random.Random(3)
    for cell in rng.sample(sorted(cells), len(cells) // 3):
        del cells[cell]
    found = polish(cells, 200)
    assert max(map(abs, found.left.values())) < 1e-3


@given(st.dictionaries(st.tuples(st.sampled_from("abcde"), st.sampled_from("xyz")), NUMBERS, min_size=1))
def test_the_parts_of_a_table_add_up_to_it(cells: dict[tuple[str, str], float]) -> None:
    found = polish(cells)
    for (row, column), value in cells.items():
        parts = found.level + found.rows[row] + found.columns[column] + found.left[row, column]
        assert parts == pytest.approx(value, abs=1e-9)


def test_a_table_of_holes_or_of_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="without a known cell"):
        polish({})
    with pytest.raises(ValueError, match="n1 s2: nan is not a finite number"):
        polish({("n1", "s2"): math.nan})
    with pytest.raises(ValueError, match="no values"):
        scale([])


def test_the_scale_is_the_standard_deviation_and_does_not_see_one_wild_value() -> None:
    rng = random.Random(1)
    values = [rng.gauss(5, 2) for _ in range(4001)]
    assert scale(values) == pytest.approx(2, rel=0.05)
    assert scale([*values, 1e9]) == pytest.approx(scale(values), rel=0.01)
    assert scale([3.0, 3.0, 3.0, 9.0]) == 0


@given(st.lists(NUMBERS, min_size=1, max_size=70), st.data())
def test_the_middle_never_falls_when_a_value_rises_and_ignores_order(values: list[float], data: st.DataObject) -> None:
    which = data.draw(st.integers(0, len(values) - 1))
    raised = [*values]
    raised[which] = data.draw(st.floats(values[which], 20) | st.just(math.inf))
    assert middle(values) <= middle(raised)
    assert middle(values) == middle(data.draw(st.permutations(values)))
    assert min(values) - 1e-9 <= middle(values) <= max(values) + 1e-9


@given(
    st.lists(NUMBERS, min_size=12, max_size=12),
    st.sets(st.integers(0, 11)),
    st.lists(NUMBERS, min_size=12, max_size=12),
)
def test_a_span_holds_whatever_stands_in_the_holes(values: list[float], holes: set[int], filled: list[float]) -> None:
    rows, columns = [n // 4 for n in range(12)], [n % 4 for n in range(12)]
    known = [HOLE if n in holes else point(value) for n, value in enumerate(values)]
    whole = [point(filled[n] if n in holes else value) for n, value in enumerate(values)]
    wide = apart(CellTable(known, rows, columns), by_row=True)
    narrow = apart(CellTable(whole, rows, columns), by_row=True)
    pairs = [
        *zip([*wide.left, *wide.rows, *wide.columns], [*narrow.left, *narrow.rows, *narrow.columns], strict=True),
        (wide.scale, narrow.scale),
    ]
    for outer, inner in pairs:
        assert outer.low <= inner.low + 1e-9
        assert inner.high <= outer.high + 1e-9


def test_without_holes_the_ends_of_every_span_meet() -> None:
    rng = random.Random(2)
    cells = [point(rng.gauss(0, 1)) for _ in range(32)]
    found = apart(CellTable(cells, [n // 8 for n in range(32)], [n % 8 for n in range(32)]), by_row=True)
    assert all(span.low == span.high for span in [*found.left, *found.rows, *found.columns, found.scale])
