"""Work in the background, and the output of commands that are called there."""

from collections.abc import Callable, Sequence
from typing import Any

from textual.app import App

from rackcheck.base.mistake import Mistake
from rackcheck.views.desk import Commands, Said
from rackcheck.views.signs import Signs
from rackcheck.views.terminal import Line, within
from rackcheck_tui.controllers.readout import Readout
from rackcheck_tui.controllers.trail import Trail
from rackcheck_tui.screens.reader import Reader


class Background:
    """Runs what takes a while in a thread, one result awaited at a time."""

    def __init__(self, app: App[Any], trail: Trail, readout: Readout) -> None:
        self._app, self._trail, self._readout = app, trail, readout
        self._awaited: object | None = None

    def run(self, work: Callable[[], object], then: Callable[[Any], None], words: str, *, opens: bool = True) -> None:
        """Run some work, with a message of what it is, and hand its result on; a mistake becomes a message.

        A result that `opens` something over the place where it was started is dropped at any other place, and after
        an escape.
        """
        started = self._trail.here
        self._awaited = token = object()
        self._readout.message(f"{words} ...")

        def run() -> None:
            try:
                found = work()
            except Mistake as mistake:
                self._app.call_from_thread(arrived, self._readout.message, str(mistake))
                return
            except Exception as error:  # noqa: BLE001  the edge of the thread: a fault of ours costs this work only
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
        """Await no result any more; whether one was awaited."""
        was, self._awaited = self._awaited is not None, None
        if was:
            self._readout.message("")
        return was


class Output:
    """Shows texts over the whole screen: the output of rackcheck's own commands, and what is like it."""

    def __init__(self, app: App[Any], signs: Signs, background: Background, desk: Commands) -> None:
        self._app, self._signs, self._background, self._desk = app, signs, background, desk

    def call(self, words: Sequence[str], title: str) -> None:
        """Call one of rackcheck's commands, and show its output."""

        def returned(answer: Said) -> None:
            self.show(title, answer.text.rstrip() or f"done (exit {answer.status})")

        width = max(self._app.size.width - 2, 40)
        self._background.run(lambda: self._desk.say(words, width), returned, title)

    def show(self, title: str, text: str) -> None:
        """Show a text over the whole screen."""
        lines = [Line(((self._signs.piece(row), ""),)) for row in text.rstrip().split("\n")]
        self.show_lines(title, lambda width: [row for line in lines for row in within(line, width, 4)])

    def show_lines(self, title: str, lines: Callable[[int], Sequence[Line]]) -> None:
        """Show lines over the whole screen, written for its width."""
        self._app.push_screen(Reader(title, lines, self._signs))
