"""Start and end of the screens: a thread opens the run; at the end, a reading in progress is stopped cleanly."""

import asyncio
import signal
import threading
from collections.abc import Callable
from typing import Any

from textual.app import App

from rackcheck.views.open_run import OpenRun
from rackcheck.views.signs import Signs
from rackcheck.views.summary import several
from rackcheck_tui.controllers.reading import ReaderTask
from rackcheck_tui.frame_rate import FrameRate
from rackcheck_tui.widgets.dialogs import LeaveDialog


class Opening:
    """Opens the run in a thread; `trouble` is the exception if the run could not be opened."""

    def __init__(self, app: App[Any], opened: Callable[[], OpenRun], then: Callable[[OpenRun], None]) -> None:
        self._app, self._open, self._then = app, opened, then
        self.trouble: Exception | None = None

    def start(self) -> None:
        """Start opening the run."""
        self._app.run_worker(self._lay, thread=True, group="open")

    def _lay(self) -> None:
        try:
            desk = self._open()
        except Exception as error:  # noqa: BLE001  raised again in the main thread when the screens are closed
            self._app.call_from_thread(self._fail, error)
            return
        self._app.call_from_thread(self._then, desk)

    def _fail(self, error: Exception) -> None:
        self.trouble = error
        self._app.exit()


class Leaving:
    """Leaves the screens; `reading` is the reading to stop, or None before the run is open."""

    def __init__(self, app: App[Any], pace: FrameRate, signs: Signs) -> None:
        self._app, self._pace, self._signs = app, pace, signs
        self.reading: ReaderTask | None = None

    def watch_signals(self) -> None:
        """Leave cleanly on SIGTERM, and on SIGHUP when the terminal is closed: a collection may be running."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    asyncio.get_running_loop().add_signal_handler(number, self._app.exit)

    def leave(self) -> None:
        """Quit; if a collection is running, ask for confirmation first."""
        if self.reading is None or not self.reading.collecting:
            self._leave(yes=True)
            return
        lines = ["a collection is running: received answers are kept, the rest is unknown"]
        if loaded := self.reading.under_load:
            count = several(loaded, "node")
            lines = [f"{count} under load: the load ends within a second; results are kept, the rest is not tested"]
        self._app.push_screen(LeaveDialog("quit?", lines, self._signs), lambda yes: self._leave(yes=bool(yes)))

    def _leave(self, *, yes: bool) -> None:
        if yes:
            self._app.run_worker(self._part())

    async def _part(self) -> None:
        """Exit after the terminal has sent its last cursor report, which the shell must not receive as input."""
        if self.reading is not None:
            self.reading.stop()
        await self._pace.settle()
        self._app.exit()

    def end(self) -> None:
        """Stop the reading when the screens are closed."""
        if self.reading is not None:
            self.reading.end()
