"""Splits a complete table into levels, effects and remainders, so that a missing value cannot reverse a verdict. Pure.

A missing value may have any value, so every result is a range: from the lowest to the highest result over all possible
values of the missing ones. If no value is missing, both ends of the range are identical. A comparison with a limit
fails only if the whole range is beyond the limit, and passes only if no part of the range is beyond the limit. A
missing value can therefore make a verdict unknown, but cannot reverse it.

The level of a row or column of 4 to 32 cells is the mean of its middle half, which varies less than the median; up to a
quarter of the cells may be outliers or missing. The level of a row or column of fewer than 4 or more than 32 cells is
the median; up to half of its cells may be outliers. The rows are assumed to be alike unless most cells of a row differ
from the other rows. The effect of a row is computed with one additional cell of value 0 for every four cells of the
row, which keeps the effect near 0 if only some cells deviate.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from rackcheck.parse.burnin.polish import NORMAL

FEWEST = 3
"""Minimum number of cells that a row needs for its own effect, and a column for its own level.

In a row or column of only two cells, either cell may be the outlier.
"""

FINEST = 1e-6
"""Minimum of a computed standard deviation: without it, identical rounded rates would give a deviation of 0."""

SHORT = range(4, 33)
"""Numbers of cells for which the mean of the middle half varies less than the median."""

DRAWN = 4
"""The effect of a row is computed with one additional cell of value 0 for every group of this many cells in the row."""


CLIP, CLIPPED = 2.0, 0.9205
"""Residuals beyond `CLIP` widths count as `CLIP` widths; the mean square of normal residuals is then `CLIPPED`."""

STEPS, MOST = 5, 1.25
"""Number of iterations for a width, and the maximum width as a multiple of the median-based standard deviation.

The maximum is needed because outliers increase the width.
"""


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
        """Return the range of the difference between a number in this range and a number in the range `other`."""
        return NumberRange(self.low - other.high, self.high - other.low)


HOLE = NumberRange(-math.inf, math.inf)
NOTHING = NumberRange(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class CellTable:
    """A table as a sequence of cells; `rows` and `columns` have the row and the column number of each cell, from 0."""

    cells: Sequence[NumberRange]
    rows: Sequence[int]
    columns: Sequence[int]


@dataclass(frozen=True, slots=True)
class PolishedTable:
    """A split table: column levels, row effects, the remainder of each cell, and the remainders' standard deviation.

    `taken` is the number of levels and effects that were computed from the cells. A row of fewer than three cells has
    an effect of 0. A column of fewer than three cells has the level of the whole table. `fewest` is for each cell the
    smaller of the numbers of cells from which the level of its column and the effect of its row were computed.
    """

    columns: Sequence[NumberRange]
    rows: Sequence[NumberRange]
    left: Sequence[NumberRange]
    scale: NumberRange
    taken: int
    fewest: Sequence[int]


def apart(table: CellTable, by_row: bool) -> PolishedTable:
    """Split a table into column levels, row effects and remainders; if `by_row` is false, all row effects are 0."""
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
    every = len(table.cells)
    used = [len(line) if len(line) >= FEWEST else every for line in columns]
    across = [len(line) if by_row and len(line) >= FEWEST else every for line in rows]
    fewest = [min(used[column], across[row]) for column, row in zip(table.columns, table.rows, strict=True)]
    return PolishedTable(levels, effects, left, scale(left, taken), taken, fewest)


def scale(left: Sequence[NumberRange], taken: int = 0) -> NumberRange:
    """Return the robust standard deviation of the remainders around 0, as a range.

    `taken` is the number of levels and effects that were computed from the same cells; because these make the
    remainders smaller, the result is increased accordingly.
    """
    least, most = _distances(left)
    free = _free(left, taken)
    return NumberRange(max(FINEST, free * NORMAL * _median(least)), max(FINEST, free * NORMAL * _median(most)))


def width(left: Sequence[NumberRange], taken: int = 0) -> NumberRange:
    """Return the standard deviation of the remainders around 0, as a range, with outliers clipped.

    The result varies less from fleet to fleet than that of `scale`: by 7 % instead of 10 % for 128 normal values. As in
    `scale`, at most half of the remainders may be outliers, and the result never falls if a remainder grows.
    """
    least, most = _distances(left)
    free = _free(left, taken)
    return NumberRange(max(FINEST, free * _clipped(least)), max(FINEST, free * _clipped(most)))


def _distances(left: Sequence[NumberRange]) -> tuple[list[float], list[float]]:
    """Return the smallest and the largest distance of each remainder from 0."""
    return [max(0.0, cell.low, -cell.high) for cell in left], [max(-cell.low, cell.high) for cell in left]


def _free(left: Sequence[NumberRange], taken: int) -> float:
    return math.sqrt(len(left) / max(1, len(left) - taken))


def _clipped(distances: Sequence[float]) -> float:
    """Return Huber's scale of the distances, in a few steps from the median-based one; each step is monotone."""
    order = sorted(distances)
    first = found = NORMAL * _median(order)
    if not 0 < first < math.inf:
        return first
    squares = [0.0, *accumulate(value * value for value in order)]
    for _ in range(STEPS):
        line = CLIP * found
        inside = bisect_right(order, line)
        found = math.sqrt((squares[inside] + (len(order) - inside) * line * line) / len(order) / CLIPPED)
    return min(found, MOST * first)


def middle(values: Sequence[float]) -> float:
    """Return the mean of the middle half of 4 to 32 values, or the median of any other number of values (at least one).

    The result never falls if a value rises: the low ends of ranges therefore give the low end of the result, and the
    high ends give the high end.
    """
    if len(values) not in SHORT:
        return _median(values)
    inner = sorted(values)[len(values) // 4 : len(values) - len(values) // 4]
    return math.fsum(inner) / len(inner) if math.isfinite(inner[0]) and math.isfinite(inner[-1]) else sum(inner)


def _median(values: Sequence[float]) -> float:
    order, half = sorted(values), len(values) // 2
    return order[half] if len(order) % 2 else (order[half - 1] + order[half]) / 2


def _lines(numbers: Sequence[int]) -> list[list[int]]:
    """Return the indices of the cells of each row or column, in the order of the row or column numbers."""
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
