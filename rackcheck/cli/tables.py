"""Plain columns that survive a pipe, with a little colour on a terminal."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from rackcheck.views.terminal import Line

WIDEST = 64
"""Letters that a column before the last may take."""

ROOM = 20
"""Letters that the last column gets if those before it hold words that can be cut."""

LEAST = 6
"""Letters of the last column that are worth a column."""

NARROWEST = 20
"""Letters that a column needs which is wrapped; where there are fewer, a row's cells stand below each other."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, width: int, styles: Sequence[str] = ()) -> list[Line]:
    """Lay rows in columns; the last column takes what room is left and is cut with … where it is too long.

    On a narrow terminal columns of words are cut, too, and names (one word each) never: where they have
    no room, a row stands as lines below each other.
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
    """Give the letters that the last column has."""
    return width - sum(widths[:-1]) - 2 * (len(widths) - 1)


def _line(row: list[str], widths: list[int], left: int, styles: Sequence[str]) -> Line:
    *first, last = row
    cells = [f"{_cut(cell, size):<{size}}  " for cell, size in zip(first, widths, strict=False)]
    return Line(tuple(zip([*cells, _cut(last, left)], styles, strict=True)))


def _cut(cell: str, size: int) -> str:
    return cell if len(cell) <= size else f"{cell[: size - 1]}…"


def wrapped(head: Sequence[str], rows: Iterable[Sequence[str]], *, width: int, styles: Sequence[str]) -> list[Line]:
    """Lay rows in columns of which nothing is cut: what is too long goes on below, on a narrow terminal all of it."""
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
    """Give one row as lines below each other: its first cell, then the others with the names of their columns."""
    first, *inner, last = row
    named = "  ".join(f"{name} {cell}" for name, cell in zip(head[1:-1], inner, strict=True) if cell)
    for text, margin, style in ((first, "", styles[0]), (named, "  ", ""), (last, "  ", styles[-1])):
        for part in _rows(text, max(width - len(margin), NARROWEST // 2)) if text else ():
            yield Line(((margin, ""), (part, style)))


def _rows(cell: str, size: int) -> list[str]:
    return textwrap.wrap(cell, size, break_on_hyphens=False) or [""]
