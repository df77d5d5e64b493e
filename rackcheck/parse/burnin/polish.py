"""Splits a table by medians into a level, an effect of each row and column, and a remainder of each cell. Pure.

The method is Tukey's median polish, in which one outlier has no effect on the rest. Cells that were not measured are
left out, so the method suits tables of which most cells were never measured. For tables that should be complete, use
the module `spans`.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

NORMAL = 1.4826
"""Factor that converts a median absolute deviation to the standard deviation of a normal distribution, 1 / 0.67449."""

SETTLED = 1e-9
"""The iteration ends after a round in which no effect changes by more than this value."""

MOST = 20
"""Maximum number of rounds: with an even number of cells, the medians may oscillate without end."""

CellKey = tuple[str, str]
"""The names of the row and of the column of a cell."""


@dataclass(frozen=True, slots=True)
class Polished:
    """A split table: each known cell is `level + rows[row] + columns[column] + left[row, column]`."""

    level: float
    rows: Mapping[str, float]
    columns: Mapping[str, float]
    left: Mapping[CellKey, float]


def polish(cells: Mapping[CellKey, float], rounds: int = MOST) -> Polished:
    """Split a table so that the median of the row effects is 0, and the median of the column effects too.

    If only one cell of a row is known, the row's effect absorbs the whole deviation of this cell, so neither the
    row nor the cell can be judged. Raises ValueError if no cell is known, or if a value is not a finite number.
    """
    _finite(cells)
    by_row, by_column = _lines(cells, 0), _lines(cells, 1)
    level = median(cells.values())
    left = {cell: value - level for cell, value in cells.items()}
    rows, columns = dict.fromkeys(by_row, 0.0), dict.fromkeys(by_column, 0.0)
    for _ in range(rounds):
        moved = max(_sweep(left, by_row, rows), _sweep(left, by_column, columns))
        for effects in (rows, columns):
            centre = median(effects.values())
            level += centre
            effects.update({name: effect - centre for name, effect in effects.items()})
        if moved <= SETTLED:
            break
    return Polished(level, rows, columns, left)


def scale(values: Iterable[float], centre: float | None = None) -> float:
    """Return the robust standard deviation of values around their median, or around `centre` if it is given.

    The result is 0 if more than half of the values are equal to the centre (the median, or `centre`). Raises ValueError
    if there are no values.
    """
    known = list(values)
    if not known:
        raise ValueError("no values from which to compute a standard deviation")
    about = median(known) if centre is None else centre
    return NORMAL * median(abs(value - about) for value in known)


def _finite(cells: Mapping[CellKey, float]) -> None:
    if not cells:
        raise ValueError("a table without a known cell cannot be polished")
    wild = next((cell for cell, value in cells.items() if not math.isfinite(value)), None)
    if wild is not None:
        raise ValueError(f"{' '.join(wild)}: {cells[wild]} is not a finite number; leave the cell out of the table")


def _lines(cells: Iterable[CellKey], end: int) -> dict[str, list[CellKey]]:
    """Group the keys of the cells by row (if `end` is 0) or by column (if `end` is 1)."""
    lines: dict[str, list[CellKey]] = {}
    for cell in cells:
        lines.setdefault(cell[end], []).append(cell)
    return lines


def _sweep(left: dict[CellKey, float], lines: Mapping[str, list[CellKey]], effects: dict[str, float]) -> float:
    """For each row or column, move the median of the residuals into the effect; return the largest absolute change."""
    moved = 0.0
    for name, line in lines.items():
        by = median(left[cell] for cell in line)
        for cell in line:
            left[cell] -= by
        effects[name] += by
        moved = max(moved, abs(by))
    return moved
