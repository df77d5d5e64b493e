"""A list of any length in one widget: only the lines in sight are ever written."""

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from rackcheck.report.terminal import Line
from rackcheck_tui.entries import Entry


def written(line: Line) -> Text:
    """Give a line to the screen library: styled by us alone, nothing in it is markup."""
    return Text.assemble(*line.pieces, no_wrap=True, end="")


class Rows(ScrollView, can_focus=True):
    """Entries, one a line, with a cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "a line down", show=False),
        Binding("up,k", "move(-1)", "a line up", show=False),
        Binding("pagedown,space", "page(1)", "a page down", show=False),
        Binding("pageup,b", "page(-1)", "a page up", show=False),
        Binding("home,g", "end(0)", "to the first", show=False),
        Binding("end,G", "end(-1)", "to the last", show=False),
        Binding("enter", "open", "details", tooltip="the details over the whole screen"),
    ]

    cursor: reactive[int] = reactive(0)

    class Moved(Message):
        """The cursor stands on another entry, or the entries have changed."""

    class Opened(Message):
        """An entry is wanted in full."""

    def __init__(self, *, id: str) -> None:  # noqa: A002  the library's word
        super().__init__(id=id)
        self.entries: Sequence[Entry] = ()
        self.empty = ""

    @property
    def current(self) -> Entry | None:
        """The entry under the cursor."""
        return self.entries[self.cursor] if self.cursor < len(self.entries) else None

    def fill(self, entries: Sequence[Entry], empty: str) -> None:
        """Show other entries, or the words for none."""
        self.entries, self.empty = entries, empty
        self.virtual_size = Size(0, max(len(entries), 1))
        self.cursor = 0
        self.scroll_to(y=0, animate=False)
        self.refresh()
        self.post_message(self.Moved())

    def render_line(self, y: int) -> Strip:
        """Write one line of those in sight."""
        width = self.scrollable_content_region.width
        number = y + self.scroll_offset.y
        if number == 0 and not self.entries:
            return self._strip(Line(((f" {self.empty}", "italic"),)), width)
        if number >= len(self.entries):
            return Strip.blank(width)
        line = self.entries[number].line(width)
        if number == self.cursor:
            text = "".join(text for text, _ in line.pieces)
            return self._strip(Line(((text, "reverse"),)), width, Style(reverse=True))
        return self._strip(line, width)

    def _strip(self, line: Line, width: int, rest: Style | None = None) -> Strip:
        return Strip(written(line).render(self.app.console)).adjust_cell_length(width, rest)

    def watch_cursor(self) -> None:
        """Keep the cursor in sight."""
        self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True)
        self.refresh()
        self.post_message(self.Moved())

    def on_resize(self, _: Resize) -> None:
        """Keep the cursor in sight in a smaller window, too."""
        self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True)

    def on_click(self, event: Click) -> None:
        """Move to the line that was clicked; a second click opens it."""
        number = event.y + self.scroll_offset.y
        if number < len(self.entries):
            again, self.cursor = number == self.cursor, number
            if again and event.chain > 1:
                self.action_open()

    def action_move(self, by: int) -> None:
        """Move the cursor by so many lines."""
        self.cursor = max(0, min(self.cursor + by, len(self.entries) - 1))

    def action_page(self, by: int) -> None:
        """Move the cursor by so many pages."""
        self.action_move(by * max(self.scrollable_content_region.height - 1, 1))

    def action_end(self, which: int) -> None:
        """Move the cursor to the first or the last line."""
        self.action_move(-len(self.entries) if which == 0 else len(self.entries))

    def action_open(self) -> None:
        """Ask for the entry in full."""
        if self.current is not None:
            self.post_message(self.Opened())
