"""One rack from its front, in one widget: its title, and one line for each line of its panel."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from rackcheck.views.modes import Cell
from rackcheck.views.signs import Signs
from rackcheck_tui.widgets.panels import Draft, PanelCell

UNSEEN = Cell("?", "dim")
"""The cell of a node without data."""

_REMEMBERED = 4096
"""Number of cell texts that a rack caches, since most of them are drawn repeatedly."""


class RackView(Widget):
    """One rack. Textual redraws from the widget's left edge to the change, so narrow widgets are cheap to redraw."""

    DEFAULT_CSS = "RackView { height: auto; }"

    class Clicked(Message):
        """A node was clicked; `opens` is true for a double click."""

        def __init__(self, node: str, *, opens: bool) -> None:
            super().__init__()
            self.node, self.opens = node, opens

    def __init__(self, draft: Draft, signs: Signs, cells: dict[str, Cell], marks: set[str]) -> None:
        super().__init__()
        self.draft, self.signs, self.cells, self.marks = draft, signs, cells, marks
        self.title = Cell("", "bold")
        self.cursor = ""
        plain, names = signs.plain, draft.density.name > 0
        self._arrow = (">" if plain else "▸") if names else ("<" if plain else "◂")
        self._texts: dict[tuple[str, str, str, str], str] = {}

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  the base class's
        """Return the number of lines, which is the same for any width."""
        return self.draft.height

    def render_line(self, y: int) -> Strip:
        """Draw the title or a line of the rack; adjacent cells of one style are one segment."""
        row = y - 1
        if row < 0:
            return self._title()
        if row >= len(self.draft.panel.rows):
            return Strip.blank(self.size.width)
        labels = self.draft.panel.labels
        label = labels[row] if row < len(labels) else ""
        pieces = [(self.signs.fit(label, self.draft.margin), "dim")] if self.draft.margin else []
        pieces += [self._place(node) for node in self.draft.panel.rows[row]]
        together = [("".join(text for text, _ in run), style) for style, run in groupby(pieces, key=lambda p: p[1])]
        return Strip([Segment(t, Style.parse(s)) for t, s in together]).adjust_cell_length(self.size.width)

    def _title(self) -> Strip:
        words = " ".join(text for text in (self.title.sign, self.draft.panel.name, self.title.word) if text) + " "
        shown = self.signs.fit(words, self.draft.width) if len(words) > self.draft.width else self.signs.piece(words)
        rule = self.signs.rule * max(self.draft.width - len(shown), 0)
        return Strip(
            [Segment(shown, Style.parse(self.title.style)), Segment(rule, Style(dim=True))]
        ).adjust_cell_length(self.size.width)

    def _place(self, node: str) -> tuple[str, str]:
        density = self.draft.density
        if not node:
            return " " * density.width, ""
        cell = self.cells.get(node, UNSEEN)
        here = node == self.cursor
        flag = "*" if node in self.marks else self._arrow if here else " "
        rows = (cell.sign, flag, node if density.name else "", cell.word if density.word else "")
        if (text := self._texts.get(rows)) is None:
            if len(self._texts) >= _REMEMBERED:
                self._texts.clear()
            text = self._texts[rows] = self._write(*rows)
        return text, f"{cell.style} reverse" if here else cell.style

    def _write(self, sign: str, flag: str, name: str, word: str) -> str:
        density, fit = self.draft.density, self.signs.fit
        rooms = ((name, density.name), (word, density.word))
        return fit(sign, 1) + flag + "".join(fit(text, room) + " " for text, room in rooms if room)

    def region_of(self, place: PanelCell) -> Region:
        """Return the screen cells of a node."""
        return Region(self.draft.x(place.column), place.row + 1, self.draft.density.width, 1)

    def on_click(self, event: Click) -> None:
        """Post a message with the clicked node."""
        if node := self.draft.at(event.x, event.y):
            self.post_message(self.Clicked(node, opens=event.chain > 1))


def spans(cells: Sequence[Region]) -> Iterator[Region]:
    """Merge the cells of one line, because Textual redraws each separate region from the widget's edge."""
    for y, line in groupby(sorted(cells, key=lambda cell: (cell.y, cell.x)), key=lambda cell: cell.y):
        some = list(line)
        yield Region(some[0].x, y, some[-1].right - some[0].x, 1)
