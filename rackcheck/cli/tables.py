"""Plain columns that survive a pipe, with a little colour on a terminal."""

from collections.abc import Iterable, Sequence

from rackcheck.report.terminal import Line

WIDEST = 64
"""Letters that a column before the last may take."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, width: int, styles: Sequence[str] = ()) -> list[Line]:
    """Lay rows in columns; the last column takes what room is left and is cut with … where it is too long."""
    body = [list(row) for row in rows]
    widths = [min(max(len(row[i]) for row in [list(head), *body]), WIDEST) for i in range(len(head))]
    left = max(width - sum(widths[:-1]) - 2 * (len(head) - 1), 20)
    lines = [_line(list(head), widths, left, ["bold"] * len(head))]
    return [*lines, *(_line(row, widths, left, styles or [""] * len(head)) for row in body)]


def _line(row: list[str], widths: list[int], left: int, styles: Sequence[str]) -> Line:
    *first, last = row
    cells = [f"{_cut(cell, size):<{size}}  " for cell, size in zip(first, widths, strict=False)]
    return Line(tuple(zip([*cells, _cut(last, left)], styles, strict=True)))


def _cut(cell: str, size: int) -> str:
    return cell if len(cell) <= size else f"{cell[: size - 1]}…"
