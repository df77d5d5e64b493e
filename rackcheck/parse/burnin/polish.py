"""A table of rows and columns, split by medians into a level, row and column effects, and a remainder. Pure.

The method is Tukey's median polish, in which one outlier has no effect on the rest. A cell that was not measured is
left out of the table: the method is for sparse tables, most of whose cells were never measured. For a table that
should be complete, in which a hole is a missing value, see `spans`.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

NORMAL = 1.4826
"""Factor from the median absolute deviation to the standard deviation of a normal distribution, 1 / 0.67449."""

SETTLED = 1e-9
"""The polish ends when no effect changes by more than this."""

MOST = 20
"""Maximum number of rounds: with an even number of cells, the medians may oscillate without end."""

CellKey = tuple[str, str]
"""The row and the column of a cell."""


@dataclass(frozen=True, slots=True)
class Polished:
    """A split table: each known cell is `level + rows[row] + columns[column] + left[row, column]`."""

    level: float
    rows: Mapping[str, float]
    columns: Mapping[str, float]
    left: Mapping[CellKey, float]


def polish(cells: Mapping[CellKey, float], rounds: int = MOST) -> Polished:
    """Split a table, so that the row effects and the column effects each have a median of 0.

    If a row has only one known cell, the row's effect absorbs any deviation of this cell: neither row nor cell can be
    judged. Raises ValueError if no cell is known, or if a value is not a finite number.
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
    """Return the robust standard deviation of values about their median, or about a known centre.

    The result is 0 if more than half of the values are the same. Raises ValueError if there are no values.
    """
    known = list(values)
    if not known:
        raise ValueError("no values to compute a scale of")
    about = median(known) if centre is None else centre
    return NORMAL * median(abs(value - about) for value in known)


def _finite(cells: Mapping[CellKey, float]) -> None:
    if not cells:
        raise ValueError("a table without a known cell cannot be polished")
    wild = next((cell for cell, value in cells.items() if not math.isfinite(value)), None)
    if wild is not None:
        raise ValueError(f"{' '.join(wild)}: {cells[wild]} is not a finite number; leave the cell out of the table")


def _lines(cells: Iterable[CellKey], end: int) -> dict[str, list[CellKey]]:
    """Return the cells of each row (0) or column (1)."""
    lines: dict[str, list[CellKey]] = {}
    for cell in cells:
        lines.setdefault(cell[end], []).append(cell)
    return lines


def _sweep(left: dict[CellKey, float], lines: Mapping[str, list[CellKey]], effects: dict[str, float]) -> float:
    """Move each line's median from the remainder into its effect; return the largest move."""
    moved = 0.0
    for name, line in lines.items():
        by = median(left[cell] for cell in line)
        for cell in line:
            left[cell] -= by
        effects[name] += by
        moved = max(moved, abs(by))
    return moved
