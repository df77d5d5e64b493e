"""Runs tasks in the background, and opens dialogs over the screen: texts, choices, questions, forms."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from textual.app import App

from rackcheck.base.user_error import UserError
from rackcheck.views.open_run import CommandResult, Commands
from rackcheck.views.signs import Signs
from rackcheck.views.terminal import Line, within
from rackcheck_tui.controllers.run_screen import Panes, Readout
from rackcheck_tui.controllers.view_history import Trail
from rackcheck_tui.screens.reader import ReaderScreen
from rackcheck_tui.widgets.dialogs import Choose, ConfirmDialog, FormDialog, FormField, Option


class Background:
    """Runs long work in a thread; at most one result is awaited at a time."""

    def __init__(self, app: App[Any], trail: Trail, readout: Readout) -> None:
        self._app, self._trail, self._readout = app, trail, readout
        self._awaited: object | None = None

    def run(self, work: Callable[[], object], then: Callable[[Any], None], words: str, *, opens: bool = True) -> None:
        """Run work, with `words` as a message meanwhile, and pass its result to `then`; a UserError becomes a message.

        Set `opens` if the callback `then` opens something over the current view. With `opens`, the result is dropped if
        the user has left the view or pressed escape.
        """
        started = self._trail.here
        self._awaited = token = object()
        self._readout.message(f"{words} ...")

        def run() -> None:
            try:
                found = work()
            except UserError as mistake:
                self._app.call_from_thread(arrived, self._readout.message, str(mistake))
                return
            except Exception as error:  # noqa: BLE001  a bug in the thread affects this work only
                text = f"rackcheck failed: {type(error).__name__}: {error}"
                self._app.call_from_thread(arrived, self._readout.message, text)
                return
            self._app.call_from_thread(arrived, then, found)

        def arrived(then: Callable[[Any], None], found: object) -> None:
            here = self._trail.shows(started)
            wanted = self._awaited is token
            if wanted:
                self.drop()
            if not opens or (wanted and here):
                then(found)

        self._app.run_worker(run, thread=True, group="behind")

    def drop(self) -> bool:
        """Stop waiting for a result; return whether a result was awaited."""
        was, self._awaited = self._awaited is not None, None
        if was:
            self._readout.message("")
        return was


class Dialogs:
    """Opens texts, choices, questions and forms over the whole screen."""

    def __init__(self, app: App[Any], signs: Signs) -> None:
        self._app, self._signs = app, signs

    def show(self, title: str, text: str) -> None:
        """Show a text."""
        lines = [Line(((self._signs.piece(row), ""),)) for row in text.rstrip().split("\n")]
        self.show_lines(title, lambda width: [row for line in lines for row in within(line, width, 4)])

    def show_lines(self, title: str, lines: Callable[[int], Sequence[Line]]) -> None:
        """Show the lines that `lines` returns for the screen's width."""
        self._app.push_screen(ReaderScreen(title, lines, self._signs))

    def choose(self, title: str, options: Sequence[Option], then: Callable[[str], None]) -> None:
        """Let the user choose one of several options; `then` receives the option's name."""
        self._app.push_screen(Choose(title, options, self._signs), lambda name: None if name is None else then(name))

    def confirm(self, title: str, lines: Sequence[str], then: Callable[[], None]) -> None:
        """Ask the user to confirm; `then` is called after a yes."""
        self._app.push_screen(ConfirmDialog(title, lines, self._signs), lambda yes: then() if yes else None)

    def fill_in(
        self, title: str, lines: Sequence[str], fields: Sequence[FormField], then: Callable[[Mapping[str, str]], None]
    ) -> None:
        """Let the user fill in a form; `then` receives its fields."""
        self._app.push_screen(
            FormDialog(title, lines, fields, self._signs), lambda given: None if given is None else then(given)
        )


class OutputScreen:
    """Shows the output of rackcheck's own commands."""

    def __init__(self, panes: Panes, background: Background, dialogs: Dialogs, desk: Commands) -> None:
        self._panes, self._background, self._dialogs, self._desk = panes, background, dialogs, desk

    def call(self, words: Sequence[str], title: str) -> None:
        """Call a command, and show its output."""

        def returned(answer: CommandResult) -> None:
            self._dialogs.show(title, answer.text.rstrip() or f"done (exit {answer.status})")

        width = max(self._panes.width - 2, 40)
        self._background.run(lambda: self._desk.run_command(words, width), returned, title)
