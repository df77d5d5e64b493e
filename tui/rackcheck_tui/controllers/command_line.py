"""The input line for a filter, a view or a rackcheck command, and the list of all views and commands."""

import shlex
from collections.abc import Callable, Sequence

from textual.events import Key
from textual.widgets import Input, Static

from rackcheck_tui.controllers.background import Dialogs, OutputScreen
from rackcheck_tui.controllers.commands import LOADING, VIEWS, asks, verbs
from rackcheck_tui.controllers.navigation import Filter, Navigator
from rackcheck_tui.controllers.run_screen import Panes, Readout
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.dialogs import Option

THIS = "this"
"""The word that stands for the current run in a typed command."""


class CommandLine:
    """Runs a typed line: shows a view, or calls a rackcheck command.

    A command that may contact nodes is called only after the user has confirmed it.
    """

    def __init__(
        self, context: ViewContext, readout: Readout, navigator: Navigator, dialogs: Dialogs, output: OutputScreen,
        leave: Callable[[], None],
    ) -> None:  # fmt: skip
        self._context, self._readout, self._navigator = context, readout, navigator
        self._dialogs, self._output, self._leave = dialogs, output, leave

    def run(self, text: str) -> None:
        """Run the typed line."""
        try:
            words = shlex.split(text)
        except ValueError as error:
            self._readout.message(f"{text.strip()}: {error}")
            return
        if not words:
            return
        name, *rest = words
        run = self._context.desk
        if name in {"q", "quit", "exit"}:
            self._leave()
        elif name in VIEWS and not any(word.startswith("-") for word in rest):
            self._view(name, rest)
        elif name in verbs():
            self._command([run.run_word if word == THIS else word for word in words])
        else:
            near = run.nearest(name, list(verbs()))
            self._readout.message(f"no view and no command {name}{near}; ctrl+p lists all")

    def _view(self, name: str, about: Sequence[str]) -> None:
        """Show a view; the words after its name are its subject or, for a view without a subject, a filter."""
        if VIEWS[name].takes:
            self._navigator.go(ViewState(name, tuple(about)))
        else:
            self._navigator.go(ViewState(name, where=" ".join(about)))

    def _command(self, words: Sequence[str]) -> None:
        if not asks(words):
            self._output.call(words, shlex.join(words))
            return
        does = "this may contact nodes; it reads, and changes nothing on them."
        if words[0] in LOADING:
            does = "this puts a load on nodes: they draw full power, and other work on them slows down."
        lines = [f"rackcheck {shlex.join(words)}", "", does]
        title = "load nodes?" if words[0] in LOADING else "contact nodes?"
        self._dialogs.confirm(title, lines, lambda: self._output.call(words, shlex.join(words)))


class Foot:
    """The input line at the bottom: a filter after `/`, a view or command after `:`."""

    def __init__(self, panes: Panes, readout: Readout, filtering: Filter, commands: CommandLine) -> None:
        self._panes, self._readout, self._filter, self._commands = panes, readout, filtering, commands
        self._mark = "/"

    def find(self) -> None:
        """Open the input line for a filter."""
        self._open("/", self._filter.text)

    def command(self) -> None:
        """Open the input line for a view or a command."""
        self._open(":", "")

    def complete(self, text: str) -> None:
        """Open the input line with the beginning of a command, so that the user can type the rest."""
        self._open(":", text)

    def _open(self, mark: str, text: str) -> None:
        line = self._panes.line
        self._panes.show_foot(shown=True)
        line.value = text
        self._panes.base.query_one("#mark", Static).update(f" {mark}")
        line.placeholder = "state:fail rack:r03 ~words" if mark == "/" else "a view, or a command of rackcheck"
        self._mark = mark
        line.focus()

    def _close(self) -> None:
        self._panes.show_foot(shown=False)
        self._panes.focus_rows()

    def changed(self, event: Input.Changed) -> None:
        """Apply the valid part of the filter while it is typed."""
        if event.input.id == "line" and self._mark == "/":
            self._filter.preview(event.value)

    def submitted(self, event: Input.Submitted) -> None:
        """Apply the filter, or run the line; an invalid filter stays in the input line for correction."""
        if event.input.id != "line":
            return
        if self._mark == ":":
            self._close()
            self._commands.run(event.value)
        elif (where := self._filter.parsed(event.value)) is not None:
            self._close()
            self._filter.enter(where)

    def pressed(self, event: Key) -> None:
        """Close the input line on escape, and drop the filter that was typed."""
        if event.key == "escape" and self._panes.line.has_focus:
            event.stop()
            event.prevent_default()
            self._close()
            if self._mark == "/":
                self._readout.message("")
                self._filter.clear()


class Palette:
    """The list of all views and commands."""

    def __init__(self, dialogs: Dialogs, foot: Foot, navigator: Navigator) -> None:
        self._dialogs, self._foot, self._navigator = dialogs, foot, navigator

    def open(self) -> None:
        """Open the list of all views and commands."""
        options = [Option(v.name, f"{v.words}{f'  [{v.key}]' if v.key else ''}") for v in verbs().values()]
        self._dialogs.choose("views and commands", options, self._chosen)

    def _chosen(self, name: str) -> None:
        takes = verbs()[name].takes
        if name in VIEWS and (not takes or name in {"history"}):
            self._navigator.go(ViewState(name))
        else:
            self._foot.complete(f"{name} ")
