"""The application: its only screen and its keys; controllers run the action of every key and screen event."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal, VerticalScroll
from textual.events import CursorPosition, Key, Resize
from textual.filter import LineFilter
from textual.message import Message
from textual.widgets import Input, Static

from rackcheck.views.open_run import OpenRun
from rackcheck.views.signs import Signs
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.background import Background, Dialogs, OutputScreen
from rackcheck_tui.controllers.background_reads import Fetching, Overlays
from rackcheck_tui.controllers.command_line import CommandLine, Foot, Palette
from rackcheck_tui.controllers.event_feed import Feed
from rackcheck_tui.controllers.export import Copying, Exporting
from rackcheck_tui.controllers.keys import BINDINGS
from rackcheck_tui.controllers.lifecycle import Leaving, Opening
from rackcheck_tui.controllers.navigation import Filter, Navigator
from rackcheck_tui.controllers.reading import ReaderTask, board_of
from rackcheck_tui.controllers.row_actions import FindingActions, Recollecting, RowViews
from rackcheck_tui.controllers.run_screen import Panes, Readout
from rackcheck_tui.controllers.selection import SelectedRows
from rackcheck_tui.controllers.view_history import Trail, ViewState
from rackcheck_tui.controllers.view_modes import Colouring, Help, Looking
from rackcheck_tui.controllers.waiving import Waiving
from rackcheck_tui.diff_writer import Sparing
from rackcheck_tui.frame_rate import FrameRate
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.rackview import Racks
from rackcheck_tui.widgets.table import TableWidget
from rackcheck_tui.widgets.themes import Colours

OWN_ACTIONS = frozenset({"do", "view", "step"})
"""Actions of the application itself, which need an open run; all other actions are Textual's."""


class Details(VerticalScroll):
    """The pane of details; it reports a change of its width, because its text must then be written again."""

    class Resized(Message):
        """The width of the details has changed."""

    def on_resize(self, _: Resize) -> None:
        """Report the change."""
        self.post_message(self.Resized())


class Screens(App[None]):
    """Shows one run and the actions on it.

    `context` and all attributes after it need the run: they exist once the run is open, when `ready` becomes true.
    """

    TITLE = "rackcheck"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "screens.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (160, "-wide")]  # noqa: RUF012  Textual declares the type
    BINDINGS: ClassVar[list[BindingType]] = BINDINGS

    context: ViewContext
    readout: Readout
    navigator: Navigator
    row_views: RowViews
    foot: Foot
    reading: ReaderTask

    def __init__(
        self, opened: Callable[[], OpenRun], signs: Signs, *, name: str = "", slow: bool = False,
        first: ViewState | None = None, against: str = "peers",
    ) -> None:  # fmt: skip
        super().__init__(ansi_color=True)  # use the terminal's own colours, which the user has chosen
        self.theme = "ansi-dark"
        self.set_class(signs.plain, "-plain")
        self.signs, self.ready, self._against, self._name = signs, False, against, name
        self.trail = Trail([first or ViewState("groups")])
        self.feed, self.colours, self.sparing, self.pace = Feed(), Colours(), Sparing(self), FrameRate(self, slow=slow)
        self.panes = Panes(self, self.trail)
        self.opening = Opening(self, opened, self._opened)
        self.leaving = Leaving(self, self.pace, signs)
        self.actions: Mapping[str, Callable[[], None]] = {"leave": self.leaving.leave}

    def compose(self) -> ComposeResult:
        """Lay out the only screen."""
        yield Static(id="head", markup=False)
        yield Static(id="status", markup=False)
        yield Static(id="above", markup=False)
        with Container(id="body"):
            yield TableWidget(self.signs, id="rows")
            yield Racks(self.signs, id="racks")
            yield Static(id="middle", markup=False)
            with Details(id="details", can_focus=False):
                yield Static(id="chosen", markup=False)
        with Horizontal(id="foot"):
            yield Static(id="mark", markup=False)
            yield Input(id="line", compact=True)
        yield Static(id="keys", markup=False)

    def _opened(self, desk: OpenRun) -> None:
        """Connect the controllers to the opened run, and start to read it."""
        self.context = ctx = ViewContext(board_of(desk), desk, self.signs, against=self._against)
        trail, panes = self.trail, self.panes
        self.readout = readout = Readout(panes, self.pace, ctx, trail)
        selection = SelectedRows(ctx, trail, panes, readout)
        background, dialogs = Background(self, trail, readout), Dialogs(self, self.signs)
        output = OutputScreen(panes, background, dialogs, desk)
        exporting = Exporting(ctx, trail, selection, readout, background, dialogs, desk)
        overlays = Overlays(ctx, readout, background, dialogs, output, exporting, desk)
        fetching = Fetching(ctx, trail, self.feed, readout, background, desk)
        filtering = Filter(ctx, trail, readout, fetching)
        self.navigator = navigator = Navigator(ctx, trail, panes, readout, filtering, fetching, background, overlays)
        self.reading = reading = ReaderTask(self, ctx, trail, self.feed, self.pace, readout, fetching, desk)
        self.row_views = rows = RowViews(ctx, trail, selection, navigator, readout, dialogs, desk)
        commands = CommandLine(ctx, readout, navigator, dialogs, output, self.leaving.leave)
        self.foot = foot = Foot(panes, readout, filtering, commands)
        findings = FindingActions(ctx, selection, readout, background, dialogs, overlays, desk)
        looking, about = Looking(ctx, panes, readout, fetching, navigator), Help(ctx, trail, dialogs)
        self.actions = {
            "find": foot.find, "command": foot.command, "palette": Palette(dialogs, foot, navigator).open,
            "guide": about.guide, "about": about.about, "leave": self.leaving.leave, "up": navigator.back,
            "every": looking.every, "mode": looking.mode, "pause": readout.turn_pause, "redraw": self.sparing.forget,
            "theme": Colouring(self, self.colours, readout).theme,
            "diff": rows.diff, "baseline": rows.baseline, "facts": rows.facts, "history": rows.history,
            "evidence": findings.evidence, "fix": findings.fix, "export": exporting.export,
            "copy": Copying(self.copy_to_clipboard, ctx, trail, selection, background, dialogs, desk).copy,
            "again": Recollecting(ctx, selection, readout, dialogs, reading, desk).again,
            "waive": Waiving(ctx, selection, readout, background, dialogs, reading, desk).waive,
        }  # fmt: skip
        self.leaving.reading, self.ready = reading, True
        reading.start()
        navigator.arrive()

    def end(self) -> None:
        """End the reading when the screens are closed."""
        self.leaving.end()

    # ---- called by Textual

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters for lines before they are drawn: Textual's own, and the user's colours."""
        return [*super().get_line_filters(), self.colours]

    def _display(self, screen: Any, renderable: Any) -> None:
        super()._display(screen, self.sparing.difference(renderable))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action is allowed: before the run is open, only leaving and Textual's own actions."""
        return self.ready or action not in OWN_ACTIONS or parameters == ("leave",)

    # ---- keys

    def action_do(self, name: str) -> None:
        """Run the action of this name."""
        self.actions[name]()

    def action_view(self, name: str) -> None:
        """Show the view whose key was pressed."""
        self.row_views.view(name)

    def action_step(self, by: int) -> None:
        """Go back or forward."""
        self.navigator.step(by)

    # ---- events

    def on_load(self) -> None:
        """Prepare an orderly exit on a signal."""
        self.leaving.watch_signals()

    def on_mount(self) -> None:
        """Show that the run is being opened, and open it."""
        self.sparing.watch()
        self.panes.show_foot(shown=False)
        self.panes.racks.display = False
        words = f" opening {self.signs.text(self._name or 'the run')} ..."
        self.panes.put("head", [Line(((words, "bold"),))])
        self.opening.start()

    def on_cursor_position(self, _: CursorPosition) -> None:
        """Handle the terminal's confirmation that it has drawn the output so far."""
        self.pace.answered()

    def on_resize(self, _: Resize) -> None:
        """Write the lines around the rows for the new width, after Textual has computed the new layout."""
        self.call_after_refresh(self._write)

    @on(TableWidget.Marked)
    @on(Racks.Marked)
    def _write(self) -> None:
        """Write the lines around the rows, after their width or the number of marks has changed."""
        if self.ready:
            self.readout.write()

    @on(Racks.Moved)
    @on(Details.Resized)
    def _write_details(self) -> None:
        """Write the details of the row or node under the cursor."""
        if self.ready:
            self.readout.write_details()

    def on_table_widget_moved(self, message: TableWidget.Moved) -> None:
        """Show the details of the row under the cursor."""
        if self.ready and message.table is self.panes.table:
            self.readout.moved()

    def on_table_widget_opened(self, message: TableWidget.Opened) -> None:
        """Open the view that the row leads to."""
        if self.ready and message.table is self.panes.table:
            self.row_views.enter()

    def on_racks_opened(self, message: Racks.Opened) -> None:
        """Show the view of the node that was opened in the racks."""
        self.navigator.go(ViewState("node", (message.node,)))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Apply the filter while it is typed in the input line."""
        if self.ready:
            self.foot.changed(event)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Submit the input line."""
        if self.ready:
            self.foot.submitted(event)

    def on_key(self, event: Key) -> None:
        """Close the input line on escape."""
        if self.ready:
            self.foot.pressed(event)
