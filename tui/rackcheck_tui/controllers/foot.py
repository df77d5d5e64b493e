"""The line at the foot: a filter while it is typed, a view, or any command of rackcheck; and the list of all."""

import shlex
from collections.abc import Sequence

from textual.events import Key
from textual.widgets import Input, Static

from rackcheck.filter.where import EVERYTHING, WORDS, Where, Wrong, parse
from rackcheck_tui.controllers.trail import Place
from rackcheck_tui.controllers.verbs import LOADING, VIEWS, asks, verbs
from rackcheck_tui.controllers.waiving import Waiving
from rackcheck_tui.widgets.dialogs import Ask, Choose, Option

THIS = "this"
"""In a command that is typed here, the run that is shown."""


def settled(text: str) -> str:
    """Give what of a filter stands while more is typed: a last word that may yet become a key is none."""
    before, last = text[: len(text) - len(word := text.rsplit(" ", maxsplit=1)[-1])], word.removeprefix("!")
    return before if last and any(key.startswith(last) for key in WORDS) else text


class Typing(Waiving):
    """Reads what is typed."""

    mark = "/"

    def action_find(self) -> None:
        """Ask for a filter."""
        self._line("/", self.context.where.text)

    def action_command(self) -> None:
        """Ask for a command."""
        self._line(":", "")

    def ask_line(self, text: str) -> None:
        """Ask for the rest of a command."""
        self._line(":", text)

    def _line(self, mark: str, text: str) -> None:
        line = self.base.query_one("#line", Input)
        self.base.query_one("#foot").display, line.value = True, text
        self.base.query_one("#mark", Static).update(f" {mark}")
        line.placeholder = "state:fail rack:r03 ~words" if mark == "/" else "a view, or a command of rackcheck"
        self.mark = mark
        line.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while words are typed, as far as they are a filter already."""
        if event.input.id == "line" and self.mark == "/":
            try:
                where = parse(settled(event.value), self.desk.kind)
            except Wrong as wrong:
                self.tell(f"not yet a filter: {wrong}{self._near(wrong)}")
                return
            self.refilter(where)
            self.tell("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter, or do what was typed."""
        if event.input.id != "line":
            return
        where = self.parsed(event.value) if self.mark == "/" else EVERYTHING
        if where is None:
            return  # what is no filter stays to be mended
        self.base.query_one("#foot").display = False
        self.give_keys()
        if self.mark == ":":
            self.run_line(event.value)
        else:
            self.refilter(where)
            self.fetch_compared(where)

    def on_key(self, event: Key) -> None:
        """Let escape leave the line at the foot."""
        line = self.base.query_one("#line", Input)
        if event.key == "escape" and line.has_focus:
            event.stop()
            event.prevent_default()
            self.base.query_one("#foot").display = False
            self.give_keys()
            if self.mark == "/":
                self.tell("")
                self.refilter(EVERYTHING)

    def give_keys(self) -> None:
        """Give the keys to what is shown."""
        (self.racks if self.on_racks else self.table).focus()

    def parsed(self, text: str) -> Where | None:
        """Read a filter; None, and a word about it on the screen, where it is none."""
        try:
            return parse(text, self.desk.kind)
        except Wrong as wrong:
            self.tell(f"no filter: {wrong}{self._near(wrong)}")
            return None

    def _near(self, wrong: Wrong) -> str:
        if not wrong.fact:
            return self.desk.nearest(wrong.word, wrong.known)
        near = self.desk.near(wrong.fact)
        return f"; did you mean {' or '.join(near[:3])}?" if near else ""

    def action_palette(self) -> None:
        """Choose among all views and commands."""
        options = [Option(v.name, f"{v.words}{f'  [{v.key}]' if v.key else ''}") for v in verbs().values()]
        self.push_screen(Choose("views and commands", options, self.signs), self._picked)

    def _picked(self, name: str | None) -> None:
        if name is None:
            return
        takes = verbs()[name].takes
        if name in VIEWS and (not takes or name in {"history"}):
            self.go(Place(name))
        else:
            self.ask_line(f"{name} ")

    def run_line(self, text: str) -> None:
        """Do what was typed: show a view, or call a command."""
        try:
            words = shlex.split(text)
        except ValueError as error:
            self.tell(f"{text.strip()}: {error}")
            return
        if not words:
            return
        name, *rest = words
        if name in {"q", "quit", "exit"}:
            self.action_leave()
        elif name in VIEWS and not any(word.startswith("-") for word in rest):
            self._view(name, rest)
        elif name in verbs():
            self._typed([self.desk.name if word == THIS else word for word in words])
        else:
            near = self.desk.nearest(name, list(verbs()))
            self.tell(f"no view and no command {name}{near}; ctrl+p lists them")

    def _view(self, name: str, about: Sequence[str]) -> None:
        """Show a view; what it is not about is a filter."""
        if VIEWS[name].takes:
            self.go(Place(name, tuple(about)))
        else:
            self.go(Place(name, where=" ".join(about)))

    def _typed(self, words: Sequence[str]) -> None:
        if not asks(words):
            self.command(words, shlex.join(words))
            return
        does = "this may ask nodes; it reads, and changes nothing on them."
        if words[0] in LOADING:
            does = "this puts a load on nodes: they draw all they can, and what runs on them slows down."
        lines = [f"rackcheck {shlex.join(words)}", "", does]

        def answered(yes: bool | None) -> None:
            if yes:
                self.command(words, shlex.join(words))

        self.push_screen(Ask("load nodes?" if words[0] in LOADING else "ask nodes?", lines, self.signs), answered)
