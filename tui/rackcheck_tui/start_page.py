"""The start page: the path from an inventory to a verified signature, with the command of each step.

The page runs no command itself: it is closed with the words of the command, and opened again when the command is done.
"""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Resize
from textual.filter import LineFilter
from textual.widgets import Input, Static

from rackcheck.base.user_error import UserError
from rackcheck.views.guided_path import PathStep, next_step
from rackcheck.views.signs import Signs
from rackcheck.views.terminal import Line
from rackcheck_tui.screens.reader import page
from rackcheck_tui.widgets.entries import ListEntries, ListEntry
from rackcheck_tui.widgets.table import TableWidget
from rackcheck_tui.widgets.themes import Colours
from rackcheck_tui.widgets.words import across, keys, labelled

KEYS = (("enter", "run the command"), (":", "edit it first"), ("j k", "move"), ("q", "quit"))
EDITING = (("enter", "run"), ("esc", "back"))

Chosen = tuple[str, tuple[str, ...]]
"""The title of a step, and the words of its command after `rackcheck`, perhaps edited."""


class StartPage(App[Chosen]):
    """Shows the steps, and returns the command to run; None if the user quits.

    `path` reads the steps; it is called in a thread. `ran` contains the exit code of each step whose command was run
    from this page, by the step's title. `trouble` is the error if the steps could not be read.
    """

    TITLE = "rackcheck"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "screens.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+c", "leave", "quit"),
        Binding("colon", "edit", "edit"),
        Binding("escape", "unedit", "back"),
    ]

    def __init__(self, path: Callable[[], Sequence[PathStep]], signs: Signs, ran: Mapping[str, int]) -> None:
        super().__init__(ansi_color=True)  # use the terminal's own colours, which the user has chosen
        self.theme = "ansi-dark"
        self.set_class(signs.plain, "-plain")
        self.signs, self._path, self._ran = signs, path, ran
        self.colours, self.trouble = Colours(), UserError("")
        self.steps: Sequence[PathStep] = ()
        self._message = ""

    def compose(self) -> ComposeResult:
        """Place the title, the steps, the details of one step, the command line and the keys below each other."""
        yield Static(id="head", markup=False)
        yield TableWidget(self.signs, id="rows")
        yield Static(id="middle", markup=False)
        yield Static(id="above", markup=False)
        with Horizontal(id="foot"):
            yield Static(PROMPT, id="mark", markup=False)
            yield Input(id="line", compact=True, select_on_focus=False)
        yield Static(id="keys", markup=False)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters for lines before they are drawn."""
        return [*super().get_line_filters(), self.colours]

    # ---- the steps

    def on_mount(self) -> None:
        """Read the steps in a thread."""
        self._table.focus()
        self._write()
        self.run_worker(self._read, thread=True)

    def _read(self) -> None:
        try:
            steps = self._path()
        except UserError as error:
            self.trouble = error
            self.call_from_thread(self.exit)
            return
        self.call_from_thread(self._show, steps)

    def _show(self, steps: Sequence[PathStep]) -> None:
        self.steps = steps
        at = self._next()
        entries = [self._entry(number, step, at) for number, step in enumerate(steps)]
        self._table.show(ListEntries(entries), keep=False)
        self._table.go(str(at))
        self._write()

    def _next(self) -> int:
        """Return the index of the next step; a step whose command was run from this page counts as done."""
        at = next_step([replace(step, done=step.done or step.title in self._ran) for step in self.steps])
        # a step without a command waits for the one before it, whose command ended without a result (interrupted init)
        waits = at > 0 and not self.steps[at].command and not self.steps[at - 1].done
        return at - 1 if waits else at

    def _entry(self, number: int, step: PathStep, at: int) -> ListEntry:
        return ListEntry(str(number), lambda width: self._line(number, step, at, width), lambda _: ())

    def _line(self, number: int, step: PathStep, at: int, width: int) -> Line:
        if step.failed:
            state, style = "FAIL", "bold red"
        elif step.done:
            state, style = "done", "green"
        elif step.title in self._ran:
            state, style = f"exit {self._ran[step.title]}", "yellow" if self._ran[step.title] else "green"
        else:
            state, style = ("next", "bold cyan") if number == at else ("", "dim")
        title = "bold" if number == at else "" if step.command else "dim"
        room = max(width - NUMBER - TITLE - STATE, 0)
        return Line(
            (
                (f"{number + 1:2} ", title),
                (self.signs.fit(state, STATE), style),
                (self.signs.fit(step.title, TITLE), title),
                (self.signs.fit(step.detail, room), "" if step.command else "dim"),
            )
        )

    # ---- what is around them

    @property
    def _table(self) -> TableWidget:
        return self.query_one(TableWidget)

    @property
    def _input(self) -> Input:
        return self.query_one(Input)

    def _write(self) -> None:
        """Write the lines around the steps, and the command of the step under the cursor."""
        width, step = self.size.width, self._step()
        self.query_one("#head", Static).update(page(list(self._head(width))))
        self.query_one("#middle", Static).update(page([across(step.title if step else "", "", self.signs, width)]))
        self.query_one("#above", Static).update(page(list(self._details(step, width))))
        if not self._input.has_focus:
            self._input.value = _command(step) if step is not None else ""
        shown = EDITING if self._input.has_focus else KEYS
        self.query_one("#keys", Static).update(page([keys(shown, self.signs, width)]))

    def _head(self, width: int) -> Iterator[Line]:
        title = "rackcheck: from an inventory to a signature"
        yield Line(((" ", ""), (self.signs.fit(title, max(width - 1, 0)), "bold")))
        words = "each step is a command, shown below; nothing runs before you press enter"
        words = words if self.steps else "reading the steps ..."
        yield Line(((" ", ""), (self.signs.fit(words, max(width - 1, 0)), "dim")))

    def _details(self, step: PathStep | None, width: int) -> Iterator[Line]:
        if self._message:
            yield Line(((" ", ""), (self.signs.fit(self._message, max(width - 1, 0)), "yellow")))
        elif step is not None and not step.command:
            yield Line(((" an earlier step is missing", "dim"),))
        elif step is not None:
            yield from labelled("state", step.detail, self.signs, width)
            if len(_command(step)) > width - len(PROMPT):
                yield from labelled("command", _command(step), self.signs, width)

    def _step(self) -> PathStep | None:
        current = self._table.current
        return self.steps[int(current)] if current is not None and self.steps else None

    # ---- events

    def on_resize(self, _: Resize) -> None:
        """Write the lines for the new width."""
        self.call_after_refresh(self._write)

    def on_table_widget_moved(self) -> None:
        """Show the command of the step under the cursor."""
        self._message = ""
        self._write()

    def on_table_widget_opened(self) -> None:
        """Run the command of the step under the cursor."""
        self._run(self._input.value)

    def on_input_submitted(self) -> None:
        """Run the command that was edited."""
        self._run(self._input.value)

    def _run(self, line: str) -> None:
        try:
            words = shlex.split(line)
        except ValueError as error:
            self._say(f"the command is not complete: {error}")
            return
        if not words:
            self._say("an earlier step is missing")
        elif words[0] != "rackcheck":
            self._say("only commands of rackcheck run here")
        else:
            step = self._step()
            words = [
                str(Path(word).expanduser()) if word.startswith("~/") else word for word in words[1:]
            ]  # as a shell does
            self.exit((step.title if step is not None else "", tuple(words)))

    def _say(self, message: str) -> None:
        self._message = message
        self._write()

    def action_edit(self) -> None:
        """Edit the command of the step under the cursor."""
        self._input.focus()
        self._input.cursor_position = len(self._input.value)
        self.call_after_refresh(self._write)

    def action_unedit(self) -> None:
        """Drop the edited command."""
        self._table.focus()
        self.call_after_refresh(self._write)

    def action_leave(self) -> None:
        """Quit without a command."""
        self.exit()


def _command(step: PathStep) -> str:
    """Return a step's command as it is typed in a shell; `~` is not quoted, so that it stays the home folder."""
    words = (word if word.startswith("~/") else shlex.quote(word) for word in step.command)
    return " ".join(("rackcheck", *words)) if step.command else ""


PROMPT = "$ "
NUMBER, STATE, TITLE = 3, 9, 32
"""Widths of the columns in characters."""
