"""Plain columns that stay readable in a pipe, with a little colour on a terminal."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from rackcheck.views.terminal import Line

WIDEST = 64
"""Maximum width of every column except the last, in characters."""

ROOM = 20
"""Width that the last column needs, in characters; below it, earlier columns are cut."""

LEAST = 6
"""Minimum width of the last column, in characters; below it, the cells of a row are stacked."""

NARROWEST = 20
"""Minimum width of a wrapped column, in characters; below it, the cells of a row are stacked."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, width: int, styles: Sequence[str] = ()) -> list[Line]:
    """Lay out rows in columns; the last column gets the remaining width, and longer cells are cut with ….

    On a narrow terminal, columns whose cells have several words are cut, too. Names (one word each) are never cut: if
    they do not fit, the cells of each row are stacked.
    """
    body = [list(row) for row in rows]
    widths = [min(max(len(row[i]) for row in [list(head), *body]), WIDEST) for i in range(len(head))]
    left = _left(widths, width)
    cut = [i for i in range(len(head) - 1) if any(" " in row[i] for row in body)]
    while left < min(ROOM, widths[-1]) and (wide := [i for i in cut if widths[i] > max(len(head[i]), NARROWEST // 2)]):
        widths[max(wide, key=widths.__getitem__)] -= 1
        left = _left(widths, width)
    if left < min(LEAST, widths[-1]):
        return [line for row in body for line in _stacked(head, row, width, styles or [""] * len(head))]
    lines = [_line(list(head), widths, left, ["bold"] * len(head))]
    return [*lines, *(_line(row, widths, left, styles or [""] * len(head)) for row in body)]


def _left(widths: Sequence[int], width: int) -> int:
    """Return the width of the last column, in characters."""
    return width - sum(widths[:-1]) - 2 * (len(widths) - 1)


def _line(row: list[str], widths: list[int], left: int, styles: Sequence[str]) -> Line:
    *first, last = row
    cells = [f"{_cut(cell, size):<{size}}  " for cell, size in zip(first, widths, strict=False)]
    return Line(tuple(zip([*cells, _cut(last, left)], styles, strict=True)))


def _cut(cell: str, size: int) -> str:
    return cell if len(cell) <= size else f"{cell[: size - 1]}…"


def wrapped(head: Sequence[str], rows: Iterable[Sequence[str]], *, width: int, styles: Sequence[str]) -> list[Line]:
    """Lay out rows in columns without cutting: long cells are wrapped, and on a narrow terminal rows are stacked."""
    body = [list(row) for row in rows]
    widths = [max(len(row[i]) for row in [list(head), *body]) for i in range(len(head))]
    while (over := sum(widths) + 2 * (len(widths) - 1) - width) > 0:
        widest = max(widths)
        if widest <= NARROWEST:
            return [line for row in body for line in _stacked(head, row, width, styles)]
        widths[widths.index(widest)] = max(widest - over, widest // 2, NARROWEST)
    first = _line(list(head), widths, widths[-1], ["bold"] * len(head))
    return [first, *(line for row in body for line in _beside(row, widths, styles))]


def _beside(row: list[str], widths: list[int], styles: Sequence[str]) -> Iterator[Line]:
    cells = [_rows(cell, size) for cell, size in zip(row, widths, strict=True)]
    for parts in zip_longest(*cells, fillvalue=""):
        yield _line(list(parts), widths, widths[-1], styles)


def _stacked(head: Sequence[str], row: list[str], width: int, styles: Sequence[str]) -> Iterator[Line]:
    """Return one row as stacked lines: its first cell, then the other cells with the names of their columns."""
    first, *inner, last = row
    named = "  ".join(f"{name} {cell}" for name, cell in zip(head[1:-1], inner, strict=True) if cell)
    for text, margin, style in ((first, "", styles[0]), (named, "  ", ""), (last, "  ", styles[-1])):
        for part in _rows(text, max(width - len(margin), NARROWEST // 2)) if text else ():
            yield Line(((margin, ""), (part, style)))


def _rows(cell: str, size: int) -> list[str]:
    return textwrap.wrap(cell, size, break_on_hyphens=False) or [""]
