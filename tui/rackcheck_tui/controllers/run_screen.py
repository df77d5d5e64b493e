"""The content of the only screen: the rows of the current view, and the lines around them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from textual.app import App
from textual.screen import Screen
from textual.widgets import Input, Static

from rackcheck.views.terminal import Line, within
from rackcheck_tui.controllers.commands import VIEWS
from rackcheck_tui.controllers.keys import at_foot
from rackcheck_tui.controllers.view_history import Trail
from rackcheck_tui.frame_rate import FrameRate
from rackcheck_tui.screens import rack
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.screens.reader import page
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.rackview import Racks
from rackcheck_tui.widgets.table import TableWidget
from rackcheck_tui.widgets.words import across, head, keys


class Panes:
    """Finds the widgets of the application's only screen."""

    def __init__(self, app: App[Any], trail: Trail) -> None:
        self._app, self._trail = app, trail

    @property
    def base(self) -> Screen[Any]:
        """Return the screen below all dialogs and pages."""
        return self._app.screen_stack[0]

    @property
    def width(self) -> int:
        """Return the width of the screen in cells."""
        return self._app.size.width

    @property
    def table(self) -> TableWidget:
        """Return the table with the rows of the current view."""
        return self.base.query_one("#rows", TableWidget)

    @property
    def racks(self) -> Racks:
        """Return the racks, which are shown instead of the table in the racks view."""
        return self.base.query_one(Racks)

    @property
    def on_racks(self) -> bool:
        """Return whether racks are shown instead of rows."""
        return self._trail.here.view == "rack"

    @property
    def line(self) -> Input:
        """Return the input line at the bottom."""
        return self.base.query_one("#line", Input)

    @property
    def marked(self) -> int:
        """Return how many rows, or nodes of the racks, are marked."""
        return len(self.racks.marks if self.on_racks else self.table.marks)

    def focus_rows(self) -> None:
        """Focus the rows, or the racks."""
        (self.racks if self.on_racks else self.table).focus()

    def show_foot(self, *, shown: bool) -> None:
        """Show or hide the input line at the bottom."""
        self.base.query_one("#foot").display = shown

    def put(self, place: str, lines: Sequence[Line]) -> None:
        """Write lines to one of the static panes."""
        # Only the head and the pane above the rows change their height: only they need a new layout.
        self.base.query_one(f"#{place}", Static).update(page(lines), layout=place in {"head", "above", "chosen"})


class Readout:
    """Builds the rows of the current view, and writes the lines around them.

    `paused` freezes the rows and the head during a reading. `failure` is why the reading failed, empty if it did not.
    """

    def __init__(self, panes: Panes, pace: FrameRate, context: ViewContext, trail: Trail) -> None:
        self._panes, self._pace, self._context, self._trail = panes, pace, context, trail
        self._message = ""
        self.shown = ViewContent(ListEntries(()), "", "")
        self.paused = False
        self.failure = ""
        self.clock: Callable[[], float] = time.monotonic

    @property
    def entry(self) -> ListEntry | None:
        """Return the row under the cursor, as an entry."""
        every, table = self.shown.entries.every, self._panes.table
        return every[table.cursor] if table.cursor < len(every) and table.listing is self.shown.entries else None

    def message(self, text: str) -> None:
        """Show one message above the rows, until another view is shown."""
        self._message = text
        self.write()

    def drop_message(self) -> None:
        """Drop the message, without writing the screen."""
        self._message = ""

    def turn_pause(self) -> None:
        """Freeze the rows, or let them follow the reading again."""
        self.paused = not self.paused
        if self.paused:
            self.write()
        else:
            self.refresh()

    def refresh(self) -> None:
        """Build the rows again; the cursor stays on its row."""
        self.fill(keep=True)

    def fill(self, *, keep: bool) -> None:
        """Build the rows of the current view; with `keep`, the cursor stays on its row."""
        place, panes, signs = self._trail.here, self._panes, self._context.signs
        self._context.now = self.clock()
        self.shown = VIEWS[place.view].build(self._context, place)
        if panes.on_racks:
            cells, legend = rack.picture(self._context)
            panes.racks.put_later(cells)
            self._pace.want(self._paint)
            self.shown = replace(self.shown, above=(legend,))
        else:
            # A cursor that the user did not move stays on the first row: the worst rows appear there during a run.
            keep = keep and bool(panes.table.cursor or panes.table.marks)
            panes.table.show(self.shown.entries, keep=keep, empty=signs.text(self.shown.empty))
        if self.paused:  # the user opened another view
            self._write_head()
        self.write()

    def _paint(self) -> bool:
        """Draw as many rack cells as the link can take now; return whether some are left."""
        return self._panes.racks.flush(self._pace.room)

    def _write_head(self) -> None:
        """Write the outcome and the counts of the run, of the same moment as the rows."""
        context, desk, width = self._context, self._context.desk, self._panes.width
        self._panes.put("head", head(context.board, context.signs, desk.name, width - 1, replays=desk.replays))

    def write(self) -> None:
        """Write the lines around the rows; those of the head stay as they are while the rows are frozen."""
        width, shown, put, signs = self._panes.width, self.shown, self._panes.put, self._context.signs
        if not self.paused:
            self._write_head()
        where = f"  /{self._context.where.text}" if self._context.where else ""
        words = signs.text(f"{self._trail.crumbs}{shown.words}{where}")
        put("status", [across(words, self._standing(), signs, width)])
        left = [Line(((f" {signs.text(shown.left_out)}", "bold magenta"),))] if shown.left_out else []
        texts = [text for text in (self.failure, self._message) if text]
        messages = [Line(((f" {signs.text(text)}", "bold yellow"),)) for text in texts]
        above = [row for line in (*messages, *left, *shown.above) for row in within(line, width - 1, 3)]
        self._panes.base.query_one("#above").display = bool(above)
        put("above", above)
        put("keys", [keys([("enter", "open"), *at_foot()], signs, width)])
        self.write_details()

    def _standing(self) -> str:
        table, marked = self._panes.table, self._panes.marked
        at = f"{table.cursor + 1:,}/{table.count:,}" if table.count and not self._panes.on_racks else ""
        words = ["paused" if self.paused else "", f"{marked} marked" if marked else "", at]
        return "  ".join(word for word in words if word)

    def write_details(self) -> None:
        """Write the details of the row, or of the node, under the cursor."""
        panes, signs = self._panes, self._context.signs
        room = (panes.base.query_one("#details").size.width or panes.width) - 1
        lines: Sequence[Line] = ()
        if panes.on_racks and panes.racks.cursor:
            lines = rack.details(self._context, panes.racks.cursor, panes.racks.cell(panes.racks.cursor), room)
        elif (entry := self.entry) is not None:
            lines = entry.details(room)
        panes.put("middle", [across("details", "", signs, panes.width)])
        panes.put("chosen", lines)

    def moved(self) -> None:
        """Update the lines around the rows after the cursor moved, and scroll the details to their first line."""
        self.write()
        self._panes.base.query_one("#details").scroll_home(animate=False)
