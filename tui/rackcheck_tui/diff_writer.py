"""Writes only changed cells to the terminal: it compares new cells with the cells that the terminal already shows.

Textual sends the whole screen after every new layout, several times before the first picture is complete. For a changed
cell, Textual sends everything from the left edge of the cell's widget. On a slow link, sending unchanged cells takes
seconds. This module compares each update with the output that was sent before. If a terminal lost data (as on a serial
line), `forget` sends everything again.
"""

import re
from collections.abc import Iterator
from typing import Any

from rich.cells import get_character_cell_size
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.app import App
from textual.strip import Strip

Codes = tuple[str, str]
"""The escape sequences before and after a text, for a style."""

_Cell = tuple[str, Codes]
"""A character with its style; the second half of a wide character is ''."""

_PLAIN: Codes = ("", "")
_BLANK: _Cell = (" ", _PLAIN)
_ERASED = 8
"""Minimum number of blank cells at the end of a line that are erased together instead of being written one by one.

Only cells without any style count as blank.
"""

_JOINED = 6
"""Up to this many unchanged cells between changed cells are sent too: skipping them takes as many bytes."""

_REMEMBERED = 4096


class TerminalState:
    """What the terminal shows, as far as that is known."""

    def __init__(self) -> None:
        self._size = (0, 0)
        self._lines: list[list[_Cell | None]] = []
        self._codes: dict[Style, Codes] = {}

    def forget(self) -> None:
        """Treat everything that the terminal shows as unknown."""
        self._size = (0, 0)

    def changes(self, pieces: Iterator[tuple[int, int, Strip]], size: tuple[int, int], console: Console) -> str:
        """Return the terminal output that draws strips of text; a piece is (column, line, strip)."""
        if size != self._size:
            self._size, self._lines = size, [[None] * size[0] for _ in range(size[1])]
        return "".join(
            self._change(x, y, self._cells(strip, console)) for x, y, strip in pieces if 0 <= y < len(self._lines)
        )

    def _change(self, x: int, y: int, new: list[_Cell]) -> str:
        line = self._lines[y]
        del new[max(len(line) - x, 0) :]
        old = line[x : x + len(new)]
        if old == new:
            return ""
        line[x : x + len(new)] = new
        end = len(new)
        if x + end == len(line):
            while end and new[end - 1] == _BLANK:
                end -= 1
        erased = len(new) - end >= _ERASED and old[end:] != new[end:]
        stop = end if len(new) - end >= _ERASED else len(new)
        sent = [_sent(x + first, y, new[first:last]) for first, last in _runs(old, new, stop)]
        if erased:
            sent.append(f"\x1b[{y + 1};{x + end + 1}H\x1b[K")
        return "".join(sent)

    def _cells(self, strip: Strip, console: Console) -> list[_Cell]:
        cells: list[_Cell] = []
        for text, style, control in strip:
            if control:
                continue
            codes = _PLAIN if style is None else self._code(style, console)
            if text.isascii():
                cells += [(sign, codes) for sign in text]
                continue
            for sign in text:
                width = get_character_cell_size(sign)
                if width == 0 and cells:
                    cells[-1] = (cells[-1][0] + sign, cells[-1][1])
                cells += [(sign, codes), ("", codes)][:width]
        return cells

    def _code(self, style: Style, console: Console) -> Codes:
        if (codes := self._codes.get(style)) is None:
            if len(self._codes) >= _REMEMBERED:
                self._codes.clear()
            before, _, after = Strip([Segment("x", style)]).render(console).partition("x")
            codes = self._codes[style] = _plainer(before, after)
        return codes


def _plainer(before: str, after: str) -> Codes:
    """Remove the terminal's default colours from a style's sequences: text without a style has these colours anyway."""
    asked = re.fullmatch(r"\x1b\[([\d;]*)m", before)
    codes = asked[1].split(";") if asked else []
    if not asked or {"38", "48"} & set(codes):
        return before, after
    left = [code for code in codes if code not in {"39", "49"}]
    return (f"\x1b[{';'.join(left)}m", after) if left else _PLAIN


def _runs(old: list[_Cell | None], new: list[_Cell], stop: int) -> Iterator[tuple[int, int]]:
    """Yield the cells to send, as first and end cell (exclusive); small gaps are closed, wide characters kept whole."""
    first, last = -1, -1
    for place in range(stop):
        if old[place] == new[place]:
            continue
        if first >= 0 and place - last > _JOINED:
            yield first, last
            first = -1
        if first < 0:
            first = place - 1 if place and not new[place][0] else place
        last = place + 1
        while last < len(new) and not new[last][0]:
            last += 1
    if first >= 0:
        yield first, last


def _sent(x: int, y: int, cells: list[_Cell]) -> str:
    """Return the output for cells at a position; neighbouring cells of one style share the style's sequences."""
    sent, style = [f"\x1b[{y + 1};{x + 1}H"], _PLAIN
    for sign, codes in cells:
        if codes != style:
            sent += [style[1], codes[0]]
            style = codes
        sent.append(sign)
    return "".join((*sent, style[1]))


class ScreenDiff(CompositorUpdate):
    """An update by Textual that sends only changed cells.

    The changes are computed only when the update is sent, because some updates are never sent.
    """

    def __init__(self, update: LayoutUpdate | ChopsUpdate, shown: TerminalState, size: tuple[int, int]) -> None:
        self.update, self.shown, self.size = update, shown, size

    def __rich_console__(self, console: Console, options: Any) -> Iterator[Any]:
        yield from self.update.__rich_console__(console, options)

    def render_segments(self, console: Console) -> str:
        """Return the output for the terminal."""
        return self.shown.changes(_pieces(self.update), self.size, console)


def _pieces(update: LayoutUpdate | ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
    """Split an update into strips as Textual itself does; each strip has the column of its first cell, and its line."""
    if isinstance(update, LayoutUpdate):
        for y, chops in enumerate(update.strips, update.region.y):
            yield update.region.x, y, Strip.join(chops)
        return
    for y, first, last in update.spans:
        for end, (x, chop) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if chop is not None and x <= last and end > first:
                yield x, y, chop if end <= last else chop.crop(0, min(end, last) - x)


class Sparing:
    """Sends only changes to one application's terminal; sends everything if Textual's internal names have changed.

    The application passes its updates on: `def _display(self, screen, update): super()._display(screen,
    self.sparing.difference(update))`.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._shown = TerminalState()

    def watch(self) -> None:
        """Treat the terminal's content as unknown each time the application resumes after it was suspended.

        The application must be running when this method is called.
        """
        self._app.app_resume_signal.subscribe(self._app, lambda _: self.forget())

    def difference(self, update: Any) -> Any:
        """Return what to send instead of an update: the difference between the update and the terminal's content."""
        if isinstance(update, (LayoutUpdate, ChopsUpdate)) and not self._app.is_inline:
            return ScreenDiff(update, self._shown, (self._app.size.width, self._app.size.height))
        return update

    def forget(self) -> None:
        """Send everything again with the next update, for example after other output to the terminal."""
        self._shown.forget()
        self._app.screen.refresh()
