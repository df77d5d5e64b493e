"""The application: a head, the view that is shown with the details of its row, the keys; it goes from place to place.

It takes the events of a reading as the command line does, opens nothing and asks no one: that is the desk's.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, VerticalScroll
from textual.events import CursorPosition, Resize
from textual.filter import LineFilter
from textual.message import Message
from textual.widgets import Input, Static

from rackcheck.filter.where import EVERYTHING, Where
from rackcheck.views.desk import Desk
from rackcheck.views.signs import Signs
from rackcheck.views.terminal import Line, within
from rackcheck_tui.controllers.feed import Feed
from rackcheck_tui.controllers.looking import listed
from rackcheck_tui.controllers.reading import Reading
from rackcheck_tui.controllers.trail import Place, Trail
from rackcheck_tui.controllers.verbs import VIEWS
from rackcheck_tui.pace import Pace
from rackcheck_tui.screens import rack
from rackcheck_tui.screens.reader import Reader, page
from rackcheck_tui.sparing import Sparing
from rackcheck_tui.widgets.entries import Entries, Shown
from rackcheck_tui.widgets.rackview import Racks
from rackcheck_tui.widgets.table import Table
from rackcheck_tui.widgets.themes import Colours
from rackcheck_tui.widgets.words import across, head, keys

NAMED = 96
"""Nodes up to which the racks' picture has their names."""


class Details(VerticalScroll):
    """Says when it has another width, for what is in it to be written anew."""

    class Resized(Message):
        """There is another width."""

    def on_resize(self, _: Resize) -> None:
        """Say so."""
        self.post_message(self.Resized())


class Screens(Reading):
    """Shows one run, and what is done with it."""

    TITLE = "rackcheck"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "screens.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (160, "-wide")]  # noqa: RUF012  the library declares its type
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(view.key, f"view('{name}')", name, show=False, tooltip=view.words)
            for name, view in VIEWS.items() if view.key
        ),
        Binding("slash", "find", "filter", key_display="/", tooltip="filter what is shown: state:fail rack:r03 ~words"),
        Binding("question_mark", "guide", "keys", key_display="?", tooltip="this page"),
        Binding("q,ctrl+c", "leave", "quit", tooltip="quit"),
        Binding("z", "every", "all", tooltip="show what passes, too, or only what does not"),
        Binding("d", "diff", "diff", tooltip="hold the node against its peers, or what D chose; two that are marked"),
        Binding("e", "evidence", "evidence", tooltip="what the verdict rests on: raw replies, the other plane"),
        Binding("f", "fix", "fix", tooltip="what would mend it, in lines to type; applies nothing"),
        Binding("r", "again", "re-read", tooltip="ask the marked nodes again, after a question"),
        Binding("w", "waive", "waive", tooltip="answer for the finding until a day, in a file"),
        Binding("y", "copy", "copy", tooltip="copy the value, the nodes, or the line that reads it: ssh, curl"),
        Binding("x", "export", "export", tooltip="write the rows that are shown, or the report, to a file"),
        Binding("colon", "command", "command", key_display=":", tooltip="type a view or a command of rackcheck"),
        Binding("escape", "up", "back", key_display="esc", show=False, tooltip="drop the filter, then go back"),
        Binding("ctrl+p", "palette", "commands", show=False, tooltip="choose among all views and commands"),
        Binding("left_square_bracket", "step(-1)", "back", key_display="[", show=False, tooltip="the place before"),
        Binding("right_square_bracket", "step(1)", "on", key_display="]", show=False, tooltip="the place after"),
        Binding("D", "baseline", "against", show=False, tooltip="choose what a node is held against"),
        Binding("F", "facts", "facts", show=False, tooltip="everything the node told"),
        Binding("H", "history", "history", show=False, tooltip="how the rule, or the node, went run by run"),
        Binding("c", "mode", "mode", show=False, tooltip="racks: state, temperature, power, drift"),
        Binding("p", "pause", "pause", show=False, tooltip="hold the screen still while a reading goes on"),
        Binding("t", "theme", "colours", show=False, tooltip="colours: the terminal's, safe for all eyes, none"),
        Binding("ctrl+l", "redraw", "redraw", show=False, tooltip="draw all anew, after others wrote here"),
        Binding("i", "about", "run", show=False, tooltip="the run itself, and its notes in full"),
    ]  # fmt: skip

    def __init__(
        self, opened: Callable[[], Desk], signs: Signs, *, name: str = "", slow: bool = False,
        first: Place | None = None, against: str = "peers",
    ) -> None:  # fmt: skip
        super().__init__(ansi_color=True)  # the terminal's own colours: its reader has chosen them
        self.theme = "ansi-dark"
        self.set_class(signs.plain, "-plain")
        self.signs, self.slow, self.against, self._open, self._name = signs, slow, against, opened, name
        self.sparing = Sparing(self)
        self.trail = Trail([first or Place("groups")])
        self.feed, self.colours, self.shown = Feed(), Colours(), Shown(Entries(()), "", "")
        self._said = ""

    def compose(self) -> ComposeResult:
        """Lay out the one screen."""
        yield Static(id="head", markup=False)
        yield Static(id="status", markup=False)
        yield Static(id="above", markup=False)
        with Container(id="body"):
            yield Table(self.signs, id="rows")
            yield Racks(self.signs, id="racks")
            yield Static(id="middle", markup=False)
            with Details(id="details", can_focus=False):
                yield Static(id="chosen", markup=False)
        with Horizontal(id="foot"):
            yield Static(id="mark", markup=False)
            yield Input(id="line", compact=True)
        yield Static(id="keys", markup=False)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Give the filters that lines pass before they are drawn: the library's own, and the reader's colours."""
        return [*super().get_line_filters(), self.colours]

    def _display(self, screen: Any, renderable: Any) -> None:
        super()._display(screen, self.sparing.difference(renderable))

    # ---- the reading

    def on_mount(self) -> None:
        """Show that there is something to come, and lay the run on the desk meanwhile."""
        self.base.query_one("#foot").display = self.racks.display = False
        self.sparing.watch()
        self.pace = Pace(self, slow=self.slow)
        self._put("head", [Line(((f" opening {self.signs.text(self._name or 'the run')} ...", "bold"),))])
        self.run_worker(self.lay, thread=True, group="open")

    def on_cursor_position(self, _: CursorPosition) -> None:
        """The terminal has drawn what was sent."""
        self.pace.answered()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let nothing be done before the run lies on the desk, but leave."""
        return self.ready or action in {"leave", "quit"} or super().check_action(action, parameters)

    # ---- going from place to place

    def go(self, place: Place) -> None:
        """Show another place; what is no view of its own opens over the one that is shown."""
        if place.view not in VIEWS:
            self.open_over(place)
            return
        self._remember()
        self.trail.go(place)
        self.arrive()

    def _remember(self) -> None:
        row = self.racks.cursor if self.on_racks else self.table.current or ""
        self.trail.settle(where=self.context.where.text, row=row)

    def arrive(self) -> None:
        """Show the place that the reader is at."""
        place = self.trail.here
        self._said = ""
        self.context.where = self.parsed(place.where) or EVERYTHING
        self.table.display, self.racks.display = not self.on_racks, self.on_racks
        self.fetch(place)
        if self.on_racks:
            found = rack.panels(self.context)
            self.racks.show(found, names=len(self.desk.nodes) <= NAMED)
        self._fill(keep=False)
        if place.row and self.on_racks:
            self.racks.cursor = place.row
        elif place.row:
            self.table.go(place.row)
        self.give_keys()

    def action_view(self, name: str) -> None:
        """Show a view from its key; a history is that of the row."""
        if name == "history":
            self.action_history()
        else:
            self.go(Place(name, where=self.context.where.text if VIEWS[name].filters else ""))

    def action_up(self) -> None:
        """Drop what is awaited, then the words of a filter, then go back."""
        if self.drop_work():
            return
        if self.context.where:
            self.refilter(EVERYTHING)
        elif self.trail.at:
            self.action_step(-1)

    def action_step(self, by: int) -> None:
        """Go back or on."""
        self._remember()
        if self.trail.step(by):
            self.arrive()

    # ---- what is shown

    def refilter(self, where: Where) -> None:
        """Show only what this filter means."""
        self.context.where = where
        self.trail.settle(where=where.text)
        self._fill(keep=True)

    def refresh_rows(self) -> None:
        """Make the rows anew, and stay where the reader is."""
        self._fill(keep=True)

    def _fill(self, *, keep: bool) -> None:
        place = self.trail.here
        self.context.now = time.monotonic()
        self.shown = VIEWS[place.view].build(self.context, place)
        if self.on_racks:
            cells, legend = rack.picture(self.context)
            self.racks.put_later(cells)
            self.pace.want(self._paint)
            self.shown = replace(self.shown, above=(legend,))
        else:
            # A cursor that nobody moved stays on the first row: while a run goes on, that is where the worst comes to.
            keep = keep and bool(self.table.cursor or self.table.marks)
            self.table.show(self.shown.entries, keep=keep, empty=self.signs.text(self.shown.empty))
        self.write()

    def _paint(self) -> bool:
        """Paint the racks' cells as far as the link takes them; whether some are left."""
        return self.racks.flush(self.pace.room)

    def write(self) -> None:
        """Write what stands around the rows."""
        if not self.ready:
            return
        width, shown = self.size.width, self.shown
        replays = self.desk.replays
        self._put("head", head(self.context.board, self.signs, self.desk.name, width - 1, replays=replays))
        where = f"  /{self.context.where.text}" if self.context.where else ""
        words = self.signs.text(f"{self.trail.crumbs}{shown.words}{where}")
        self._put("status", [across(words, self._standing(), self.signs, width)])
        left = [Line(((f" {self.signs.text(shown.left_out)}", "bold magenta"),))] if shown.left_out else []
        told = [text for text in (self._broken, self._said) if text]
        said = [Line(((f" {self.signs.text(text)}", "bold yellow"),)) for text in told]
        above = [row for line in (*said, *left, *shown.above) for row in within(line, width - 1, 3)]
        self.base.query_one("#above").display = bool(above)
        self._put("above", above)
        self._put("keys", [keys([("enter", "open"), *listed(self.BINDINGS, shown=True)], self.signs, width)])
        self._details()

    def _standing(self) -> str:
        table, marks = self.table, self.racks.marks if self.on_racks else self.table.marks
        at = f"{table.cursor + 1:,}/{table.count:,}" if table.count and not self.on_racks else ""
        words = ["paused" if self.paused else "", f"{len(marks)} marked" if marks else "", at]
        return "  ".join(word for word in words if word)

    def _details(self) -> None:
        room = (self.base.query_one("#details").size.width or self.size.width) - 1
        lines: Sequence[Line] = ()
        if self.on_racks and self.racks.cursor:
            lines = rack.details(self.context, self.racks.cursor, self.racks.cell(self.racks.cursor), room)
        elif (entry := self.entry) is not None:
            lines = entry.details(room)
        self._put("middle", [across("details", "", self.signs, self.size.width)])
        self._put("chosen", lines)

    def _put(self, place: str, lines: Sequence[Line]) -> None:
        # Only the head and what stands above the rows change their height: all else needs no new layout.
        self.base.query_one(f"#{place}", Static).update(page(lines), layout=place in {"head", "above", "chosen"})

    def tell(self, text: str) -> None:
        """Say one thing over the rows, until the reader goes elsewhere."""
        self._said = text
        self.write()

    # ---- what happens

    def on_resize(self, _: Resize) -> None:
        """Write everything for the new size, once it is laid out."""
        self.call_after_refresh(self.write)

    def on_details_resized(self) -> None:
        """Write the details for the width that they have now."""
        if self.ready:
            self._details()

    def on_table_moved(self, message: Table.Moved) -> None:
        """Show the details of the row under the cursor."""
        if self.ready and message.table is self.table:
            self.write()
            self.base.query_one("#details").scroll_home(animate=False)

    def on_table_opened(self, message: Table.Opened) -> None:
        """Go where the row leads."""
        if message.table is not self.table or (entry := self.entry) is None:
            return
        if entry.into is not None:
            self.go(entry.into)
        else:
            self.push_screen(Reader("details", entry.details, self.signs))

    def on_table_marked(self) -> None:
        """Count the marks."""
        self.write()

    def on_racks_moved(self) -> None:
        """Show the details of the node under the cursor."""
        if self.ready and self.on_racks:
            self._details()

    def on_racks_opened(self, message: Racks.Opened) -> None:
        """Go to the node."""
        self.go(Place("node", (message.node,)))

    def on_racks_marked(self) -> None:
        """Count the marks."""
        self.write()
