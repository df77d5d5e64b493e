"""The application: a run's head, its groups or nodes, and the details of the one that is chosen."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.events import Resize
from textual.widgets import Input, Static

from rackcheck.report.signs import Signs
from rackcheck.report.summary import Summary
from rackcheck.report.terminal import Line
from rackcheck_tui.entries import Filter, chosen, nothing, state
from rackcheck_tui.groups import groups
from rackcheck_tui.nodes import nodes
from rackcheck_tui.reader import Reader, page
from rackcheck_tui.rows import Rows
from rackcheck_tui.words import about, across, guide, head, keys


class Screens(App[None]):
    """Shows one run; `n` turns from groups to nodes and back."""

    TITLE = "rackcheck"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "screens.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (160, "-wide")]  # noqa: RUF012  the library declares its type
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "filter", "filter", tooltip="turn the filter: all, not passing, fail, unknown, warn"),
        Binding("slash", "find", "find", key_display="/", tooltip="find words in rules, reasons and node names"),
        Binding("escape", "clear", "clear", show=False, tooltip="show all again"),
        Binding("n", "turn", "nodes", tooltip="turn from groups of equal verdicts to nodes, and back"),
        Binding("i", "about", "run", tooltip="the run itself, and its notes in full"),
        Binding("question_mark", "guide", "help", key_display="?", tooltip="this page"),
        Binding("q,ctrl+c", "quit", "quit", tooltip="quit"),
    ]

    def __init__(self, summary: Summary, signs: Signs, began: Sequence[str] = ()) -> None:
        super().__init__(ansi_color=True)  # the terminal's own colours: its reader has chosen them
        self.theme = "ansi-dark"
        self.set_class(signs.plain, "-plain")
        self.summary, self.signs, self.head, self.began = summary, signs, head(summary, signs), began
        self.views = {"groups": groups(summary, signs), "nodes": nodes(summary, signs)}
        self.view, self.by, self.text = "groups", Filter.ALL, ""

    def compose(self) -> ComposeResult:
        """Lay out the one screen."""
        yield Static(id="head", markup=False)
        yield Static(id="status", markup=False)
        with Container(id="body"):
            yield Rows(id="rows")
            yield Static(id="middle", markup=False)
            with VerticalScroll(id="details"):
                yield Static(id="chosen", markup=False)
        yield Input(id="find", placeholder="words to find; enter keeps them, esc clears", compact=True)
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        """Fill the list and give it the keys."""
        self.query_one("#find").display = False
        self._fill()
        self._write()
        self.query_one(Rows).focus()

    def on_resize(self, _: Resize) -> None:
        """Write everything for the new size, once it is laid out."""
        self.call_after_refresh(self._write)

    def on_rows_moved(self) -> None:
        """Show the details of the entry under the cursor."""
        self._write()
        self.query_one("#details").scroll_home(animate=False)

    def on_rows_opened(self) -> None:
        """Show the entry in full."""
        entry = self.query_one(Rows).current
        if entry is not None:
            self.push_screen(Reader("details", entry.details, self.signs))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while the words are typed."""
        self.text = event.value
        self._fill()

    def on_input_submitted(self) -> None:
        """Keep the words and go back to the list."""
        self.query_one("#find").display = False
        self.query_one(Rows).focus()

    def action_filter(self) -> None:
        """Turn to the next filter."""
        self.by = self.by.next
        self._fill()

    def action_find(self) -> None:
        """Ask for words to find."""
        line = self.query_one("#find", Input)
        line.display = True
        line.focus()

    def action_clear(self) -> None:
        """Show all again."""
        line = self.query_one("#find", Input)
        line.value, line.display = "", False
        self.by, self.text = Filter.ALL, ""
        self._fill()
        self.query_one(Rows).focus()

    def action_turn(self) -> None:
        """Turn from groups to nodes, or back."""
        self.view = "nodes" if self.view == "groups" else "groups"
        self._fill()

    def action_about(self) -> None:
        """Show what is known of the run itself."""
        told = partial(about, self.summary, self.signs, began=self.began)
        self.push_screen(Reader("run", lambda width: list(told(width)), self.signs))

    def action_guide(self) -> None:
        """Show every key."""
        every = [*_keys(Rows.BINDINGS), *_keys(self.BINDINGS)]
        self.push_screen(Reader("keys", lambda _: list(guide(every)), self.signs))

    def _fill(self) -> None:
        every = self.views[self.view]
        shown = chosen(every, self.by, self.text)
        self.query_one(Rows).fill(shown, self.signs.text(nothing(len(every), self.by, self.text, self.view)))

    def _write(self) -> None:
        width, rows = self.size.width, self.query_one(Rows)
        entry = rows.current
        room = self.query_one("#details").size.width or width
        words = state(self.view, self.by, self.text, len(rows.entries), len(self.views[self.view]))
        at = f"{rows.cursor + 1:,}/{len(rows.entries):,}" if rows.entries else ""
        self._put("head", self.head)
        self._put("status", [across(self.signs.text(words), at, self.signs, width)])
        self._put("middle", [across("details", "", self.signs, width)])
        self._put("chosen", entry.details(room - 1) if entry is not None else [])
        listed = [*_keys(Rows.BINDINGS, shown=True), *_keys(self.BINDINGS, shown=True)]
        self._put("keys", [keys([("j k", "move"), *listed], self.signs, width)])

    def _put(self, place: str, lines: Sequence[Line]) -> None:
        self.query_one(f"#{place}", Static).update(page(lines))


def _keys(bindings: Sequence[BindingType], *, shown: bool = False) -> list[tuple[str, str]]:
    """Give each key with what it does; `shown` keeps those of the line at the foot, in one word."""
    made = [b for b in bindings if isinstance(b, Binding) and (b.show or not shown)]
    if shown:
        return [(b.key_display or b.key.split(",")[0], b.description) for b in made]
    return [(b.key_display or b.key.replace(",", " "), b.tooltip or b.description) for b in made]
