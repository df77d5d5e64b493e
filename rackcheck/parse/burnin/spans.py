"""A table that should be full, split so that a missing value cannot change a judgement. Pure.

A hole may hold any value. So every result is a span: the least and the most that any values in the holes could make of
it. Without holes the ends meet; a hole can only widen. A rule that blames only if the whole span is beyond the limit,
and clears only if none of it is, is never turned from one to the other by a missing value.

The level of a short line is the mean of the middle half of its cells, which varies less than the median does; a quarter
of them may be wild or holes. Of a long line the median varies little enough, and half may be wild. A row's effect is
shrunk by one cell of 0 for every four that it has: rows are taken as alike unless most of a row differs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rackcheck.parse.burnin.polish import NORMAL

FEWEST = 3
"""Cells of a line below which it has no effect of its own: of two cells it is unknown which is the odd one."""

FINEST = 1e-6
"""Smallest scale: rates are not reported finer, and equal ones have a scale of 0."""

SHORT = range(4, 33)
"""Numbers of cells for which the mean of the middle half is better than the median."""

DRAWN = 4
"""Cells of a row for each 0 that is added to them."""


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The least and the most that a number may be; equal if it is known."""

    low: float
    high: float

    @property
    def middle(self) -> float | None:
        """The middle; None if an end is open."""
        half = (self.low + self.high) / 2
        return half if math.isfinite(half) else None

    def less(self, other: "NumberRange") -> "NumberRange":
        """Return this range less the other."""
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
    """A split table: the columns' levels, the rows' effects, and the rest of each cell, with its scale.

    A row or column of fewer than three cells has none of its own: a row's effect is then 0, and a column's level is
    that of the whole table.
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
    """Return the robust standard deviation of the rest, about 0.

    `taken` is the number of levels and effects taken from the same cells, which make the rest look too small.
    """
    free = math.sqrt(len(left) / max(1, len(left) - taken))
    least = _median([max(0.0, cell.low, -cell.high) for cell in left])
    most = _median([max(-cell.low, cell.high) for cell in left])
    return NumberRange(max(FINEST, free * NORMAL * least), max(FINEST, free * NORMAL * most))


def middle(values: Sequence[float]) -> float:
    """Return the level of a line of at least one value: the mean of the middle half, or the median (see the module).

    It never falls when a value rises, so the least values give its least. Their order changes nothing.
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
