"""A table of any length in one widget: only visible rows are ever formatted."""

from collections.abc import Collection
from typing import ClassVar, cast

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from rackcheck.views.listing import Listing
from rackcheck.views.signs import Signs
from rackcheck.views.terminal import Line
from rackcheck_tui.widgets.marks import find, marked, settle
from rackcheck_tui.widgets.styled_lines import strip

GUTTER = 2
"""Number of cells at the left of each row: one for the mark, then one for the cursor."""

_WRITTEN = 512
"""Maximum number of formatted rows in the cache: a few screens, never all rows."""


class TableWidget(ScrollView, can_focus=True):
    """Shows a listing under its heading, with a cursor and marks."""

    DEFAULT_CSS = "Table { overflow-x: hidden; scrollbar-size-vertical: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "a row down", show=False),
        Binding("up,k", "move(-1)", "a row up", show=False),
        Binding("pagedown", "page(1)", "a page down", show=False),
        Binding("pageup", "page(-1)", "a page up", show=False),
        Binding("home,g", "end(0)", "to the first row", show=False),
        Binding("end,G", "end(-1)", "to the last row", show=False),
        Binding("space", "mark", "mark", show=False, tooltip="mark or unmark the row, and go down"),
        Binding("V", "mark_range", "mark to here", show=False, tooltip="mark every row from the last mark to here"),
        Binding("asterisk", "mark_all", "mark all", key_display="*", show=False, tooltip="mark every row, or none"),
        Binding("enter", "open", "details", tooltip="open the row"),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)

    class FromTable(Message):
        """A message of a table; `table` is its sender."""

        def __init__(self, table: "TableWidget") -> None:
            super().__init__()
            self.table = table

        @property
        def control(self) -> "TableWidget":
            """The table that sent the message; Textual compares it with the selectors of message handlers."""
            return self.table

    class Moved(FromTable):
        """The cursor moved to another row, or the rows have changed."""

    class Opened(FromTable):
        """The row under the cursor was opened."""

    class Marked(FromTable):
        """The marked rows have changed."""

    def __init__(self, signs: Signs, *, id: str | None = None) -> None:  # noqa: A002  Textual's parameter name
        super().__init__(id=id)
        self.signs = signs
        self.listing: Listing | None = None
        self.marks: set[str] = set()
        self.empty = ""
        self._anchor = 0
        self._heading: Strip | None = None
        self._written: dict[int, Strip] = {}
        self._width = 0

    # ---- what it shows

    @property
    def count(self) -> int:
        """Return the number of rows."""
        return 0 if self.listing is None else len(self.listing)

    @property
    def current(self) -> str | None:
        """Return the name of the row under the cursor; None if there are no rows."""
        return self.listing.name(self.cursor) if self.listing is not None and self.cursor < self.count else None

    @property
    def page(self) -> int:
        """Return the number of rows that fit."""
        return max(self.scrollable_content_region.height - self._top, 1)

    @property
    def in_sight(self) -> range:
        """Return the numbers of the visible rows."""
        first = self.scroll_offset.y
        return range(first, min(first + self.page, self.count))

    def show(self, listing: Listing, *, keep: bool = True, empty: str = "") -> None:
        """Show the rows of a new listing; if it has no rows, show the text `empty`.

        With `keep` the cursor stays on the row with the same name, at the same height on the screen, and marks stay on
        rows that still exist. If the cursor's row is gone, the cursor keeps its row number. Names are searched at most
        once, and not at all if the cursor's row has not moved and nothing is marked.
        """
        before, at, depth = self.current if keep else None, self.cursor, self.cursor - self.scroll_offset.y
        self.listing, self.empty = listing, empty
        self._written.clear()
        had = self.marks
        cursor, self.marks = settle(listing, before, at, had) if keep else (0, set())
        self._anchor = min(self._anchor, max(self.count - 1, 0)) if keep else 0
        self._lay_out()
        self.set_reactive(TableWidget.cursor, cursor)
        self._scroll(cursor - depth if keep else 0)
        self._follow()
        self.refresh()
        self.post_message(self.Moved(self))
        if self.marks != had:
            self.post_message(self.Marked(self))

    def go(self, name: str) -> bool:
        """Move the cursor to the row with this name; return whether there is such a row."""
        found = None if self.listing is None else find(self.listing, name)
        if found is not None:
            self.cursor = found
        return found is not None

    def refresh_rows(self, names: Collection[str]) -> None:
        """Redraw these rows if they are visible; other rows are redrawn when they become visible."""
        if self.listing is None:
            return
        for row in [row for row in self._written if row >= self.count or self.listing.name(row) in names]:
            del self._written[row]
        self._repaint(*(row for row in self.in_sight if self.listing.name(row) in names))

    def acted_on(self) -> tuple[str, ...]:
        """Return the nodes of the marked rows, else of the row under the cursor, in row order, without duplicates."""
        if self.listing is None or not self.count:
            return ()
        rows = self.marked_rows() or (self.cursor,)
        return tuple(dict.fromkeys(node for row in rows for node in self.listing.nodes(row)))

    def marked_rows(self) -> tuple[int, ...]:
        """Return the numbers of the marked rows."""
        return () if self.listing is None else marked(self.listing, self.marks)

    # ---- how it is drawn

    def render_line(self, y: int) -> Strip:
        """Draw one visible line."""
        width = self.scrollable_content_region.width
        if width != self._width:
            self._lay_out()
        if y < self._top and self._heading is not None:
            return self._heading
        row = y - self._top + self.scroll_offset.y
        if self.listing is None or row >= self.count:
            words = f"{' ' * GUTTER}{self.empty}" if row == 0 else ""
            return strip(Line(((words, "italic"),)), width)
        return Strip.join([self._gutter(row), self._row(row, max(width - GUTTER, 0))]).adjust_cell_length(width)

    def _gutter(self, row: int) -> Strip:
        listing = cast("Listing", self.listing)
        mark = "*" if self.marks and listing.name(row) in self.marks else " "
        arrow = (">" if self.signs.plain else "▸") if row == self.cursor else " "
        return Strip([Segment(mark + arrow, Style(bold=True))], GUTTER)

    def _row(self, row: int, width: int) -> Strip:
        listing = cast("Listing", self.listing)
        if row == self.cursor and self.has_focus:
            return strip(listing.line(row, width), width, Style(reverse=True))
        if (known := self._written.get(row)) is None:
            if len(self._written) >= _WRITTEN:
                self._written.clear()
            known = self._written[row] = strip(listing.line(row, width), width)
        return known

    @property
    def _top(self) -> int:
        return 0 if self._heading is None else 1

    def _lay_out(self) -> None:
        """Write the heading for the available width, and set the total number of lines."""
        width = self.scrollable_content_region.width
        if width != self._width:
            self._written.clear()
        self._width = width
        head = None if self.listing is None else self.listing.head(max(width - GUTTER, 0))
        heading = None if head is None else strip(Line(((" " * GUTTER, ""), *head.pieces)), width)
        self._heading = heading
        self.virtual_size = Size(0, max(self.count, 1) + self._top)

    def _repaint(self, *rows: int) -> None:
        """Redraw these rows if they are visible."""
        sight, width = self.in_sight, self.scrollable_content_region.width
        lines = [Region(0, row - sight.start + self._top, width, 1) for row in rows if row in sight]
        if lines:
            self.refresh(*lines)

    def _scroll(self, first: int) -> None:
        self.scroll_to(y=max(min(first, self.count - self.page), 0), animate=False, force=True)

    def _follow(self) -> None:
        """Scroll to the cursor, as little as possible."""
        sight = self.in_sight
        if self.cursor < sight.start:
            self._scroll(self.cursor)
        elif self.cursor >= sight.start + self.page:
            self._scroll(self.cursor - self.page + 1)

    # ---- what moves it

    def watch_cursor(self, before: int, after: int) -> None:
        """Scroll to the cursor after it moved, and redraw the rows before and after the move."""
        self._follow()
        self._repaint(before, after)
        self.post_message(self.Moved(self))

    def on_resize(self, _: Resize) -> None:
        """Write everything for the new width, and keep the cursor visible in a smaller window."""
        self._lay_out()
        self._follow()
        self.refresh()

    def on_focus(self) -> None:
        """Show the full cursor, because keys now move the cursor of this table."""
        self._repaint(self.cursor)

    def on_blur(self) -> None:
        """Show only the symbol of the cursor, because keys no longer move the cursor of this table."""
        self._repaint(self.cursor)

    def on_click(self, event: Click) -> None:
        """Move to the clicked row, or mark it if its first cells were clicked; a double click opens it."""
        row = event.y - self._top + self.scroll_offset.y
        if event.y < self._top or row >= self.count:
            return
        self.cursor = row
        if event.x < GUTTER:
            self._turn(row)
        elif event.chain > 1:
            self.action_open()

    def action_move(self, by: int) -> None:
        """Move the cursor by this many rows."""
        self.cursor = max(0, min(self.cursor + by, self.count - 1))

    def action_page(self, by: int) -> None:
        """Move the cursor by this many pages."""
        self.action_move(by * max(self.page - 1, 1))

    def action_end(self, which: int) -> None:
        """Move the cursor to the first or the last row."""
        self.action_move(-self.count if which == 0 else self.count)

    def action_open(self) -> None:
        """Post a request to open the row."""
        if self.count:
            self.post_message(self.Opened(self))

    def action_mark(self) -> None:
        """Mark the row, or remove its mark, and go down."""
        if self.count:
            self._turn(self.cursor)
            self.action_move(1)

    def action_mark_range(self) -> None:
        """Mark every row from the row that was marked last to the cursor's row, both included."""
        if self.listing is None or not self.count:
            return
        first, last = sorted((self._anchor, self.cursor))
        self.marks |= {self.listing.name(row) for row in range(first, last + 1)}
        self._anchor = self.cursor
        self._repaint(*range(max(first, self.in_sight.start), min(last + 1, self.in_sight.stop)))
        self.post_message(self.Marked(self))

    def action_mark_all(self) -> None:
        """Mark every row; if all rows are marked, remove all marks."""
        if self.listing is None or not self.count:
            return
        every = {self.listing.name(row) for row in range(self.count)}
        self.marks = set() if every <= self.marks else every
        self._repaint(*self.in_sight)
        self.post_message(self.Marked(self))

    def _turn(self, row: int) -> None:
        self.marks ^= {cast("Listing", self.listing).name(row)}
        self._anchor = row
        self._repaint(row)
        self.post_message(self.Marked(self))
