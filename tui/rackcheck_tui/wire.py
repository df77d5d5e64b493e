"""What went to the terminal and whether it was taken: the one place that looks behind the screen library.

Nothing public of the library says how much it has written and what still waits. Where these names have changed,
nothing is counted and nothing seems to wait: the screen is then paced by time and by the terminal's own answers.
"""

from collections.abc import Callable
from queue import Queue
from typing import Any

from textual.app import App

QUESTION = "\x1b[6n"
"""Asks the terminal where its cursor is: every terminal answers, in order, behind all that came before."""


class Wire:
    """The way to an application's terminal."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._metered: object = None
        self.sent = 0

    @property
    def waiting(self) -> int:
        """Pieces of writing that the terminal has not begun to take."""
        writer = getattr(self._driver(), "_writer_thread", None)
        queue = getattr(writer, "_queue", None)
        return queue.qsize() if isinstance(queue, Queue) else 0

    @property
    def answers(self) -> bool:
        """Whether there is a terminal that could answer."""
        return self._driver() is not None and not self._app.is_headless

    def meter(self) -> None:
        """Count what is written from now on, in `sent`: bytes, as signs beyond ASCII take more than one."""
        driver = self._driver()
        write: Callable[[str], None] | None = getattr(driver, "write", None)
        if driver is None or write is None or driver is self._metered:
            return

        def counted(data: str) -> None:
            self.sent += len(data) if data.isascii() else len(data.encode(errors="replace"))
            write(data)

        setattr(driver, "write", counted)  # noqa: B010  a method of this one driver is replaced, and seen to be
        self._metered = driver

    def ask(self) -> None:
        """Ask the terminal to answer when it has taken all that was written."""
        write: Callable[[str], None] | None = getattr(self._driver(), "write", None)
        if write is not None:
            write(QUESTION)

    def _driver(self) -> object:
        return getattr(self._app, "_driver", None)
