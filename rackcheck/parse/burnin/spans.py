"""Split a table that should be complete, so that a missing value cannot reverse a verdict. Pure.

A hole is a missing value and may have any value. So every result is a range: the lowest and the highest result over all
values of the holes. Without holes both ends are identical; a hole can only widen the range. A rule fails only if the
whole range is beyond the limit, and passes only if no part of the range is beyond the limit. A missing value never
reverses the verdict of such a rule.

The level of a short line (a row or a column) is the mean of the middle half of its cells, which varies less than the
median; a quarter of the cells may be outliers or holes. The level of a long line is the median, which varies little
enough; up to half of the cells may be outliers. The effect of a row is computed with one further cell of value 0 for
every four cells of the row: rows are taken as identical unless most of a row differs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rackcheck.parse.burnin.polish import NORMAL

FEWEST = 3
"""Minimum number of cells of a line with its own effect: with two cells, it is unknown which cell deviates."""

FINEST = 1e-6
"""Minimum scale: rates are not reported more precisely than this, and identical rates would have a scale of 0."""

SHORT = range(4, 33)
"""Numbers of cells for which the mean of the middle half varies less than the median."""

DRAWN = 4
"""Number of cells of a row for which one further cell of value 0 is added."""


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The lowest and the highest value that a number may have; identical if the number is known."""

    low: float
    high: float

    @property
    def middle(self) -> float | None:
        """The middle of the range; None if an end is infinite."""
        half = (self.low + self.high) / 2
        return half if math.isfinite(half) else None

    def less(self, other: "NumberRange") -> "NumberRange":
        """Return this range minus the other."""
        return NumberRange(self.low - other.high, self.high - other.low)


HOLE = NumberRange(-math.inf, math.inf)
NOTHING = NumberRange(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class CellTable:
    """The cells in order, with the row and column number of each; both count from 0."""

    cells: Sequence[NumberRange]
    rows: Sequence[int]
    columns: Sequence[int]


@dataclass(frozen=True, slots=True)
class PolishedTable:
    """A split table: the columns' levels, the rows' effects, the remainder of each cell, and the remainders' scale.

    A row of fewer than three cells has an effect of 0. A column of fewer than three cells has the level of the whole
    table.
    """

    columns: Sequence[NumberRange]
    rows: Sequence[NumberRange]
    left: Sequence[NumberRange]
    scale: NumberRange


def apart(table: CellTable, by_row: bool) -> PolishedTable:
    """Split a table; without `by_row` no row has an effect."""
    columns = _lines(table.columns)
    whole = _level(table.cells) if any(len(line) < FEWEST for line in columns) else NOTHING
    levels = [_level([table.cells[n] for n in line]) if len(line) >= FEWEST else whole for line in columns]
    left = [cell.less(levels[column]) for cell, column in zip(table.cells, table.columns, strict=True)]
    rows = _lines(table.rows)
    effects = [NOTHING] * len(rows)
    if by_row:
        effects = [_drawn([left[n] for n in line]) if len(line) >= FEWEST else NOTHING for line in rows]
        left = [cell.less(effects[row]) for cell, row in zip(left, table.rows, strict=True)]
    taken = sum(len(line) >= FEWEST for line in columns) or 1
    taken += max(0, sum(len(line) >= FEWEST for line in rows) - 1) if by_row else 0
    return PolishedTable(levels, effects, left, scale(left, taken))


def scale(left: Sequence[NumberRange], taken: int = 0) -> NumberRange:
    """Return the robust standard deviation of the remainders, about 0.

    `taken` is the number of levels and effects computed from the same cells, which make the remainders look too small.
    """
    free = math.sqrt(len(left) / max(1, len(left) - taken))
    least = _median([max(0.0, cell.low, -cell.high) for cell in left])
    most = _median([max(-cell.low, cell.high) for cell in left])
    return NumberRange(max(FINEST, free * NORMAL * least), max(FINEST, free * NORMAL * most))


def middle(values: Sequence[float]) -> float:
    """Return the level of a line of at least one value: the mean of the middle half, or the median (see the module).

    The level never falls when a value rises, so the lowest values give the lowest level. The order does not matter.
    """
    if len(values) not in SHORT:
        return _median(values)
    inner = sorted(values)[len(values) // 4 : len(values) - len(values) // 4]
    return math.fsum(inner) / len(inner) if math.isfinite(inner[0]) and math.isfinite(inner[-1]) else sum(inner)


def _median(values: Sequence[float]) -> float:
    order, half = sorted(values), len(values) // 2
    return order[half] if len(order) % 2 else (order[half - 1] + order[half]) / 2


def _lines(numbers: Sequence[int]) -> list[list[int]]:
    """Return the cells of each row or column, by its number."""
    lines: list[list[int]] = [[] for _ in range(max(numbers, default=-1) + 1)]
    for cell, number in enumerate(numbers):
        lines[number].append(cell)
    return lines


def _level(cells: Sequence[NumberRange]) -> NumberRange:
    low = middle([cell.low for cell in cells])
    return NumberRange(
        low, middle([cell.high for cell in cells]) if any(cell.low != cell.high for cell in cells) else low
    )


def _drawn(cells: Sequence[NumberRange]) -> NumberRange:
    return _level([*cells, *[NOTHING] * (len(cells) // DRAWN)])
