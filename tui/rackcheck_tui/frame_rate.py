"""How often live content is drawn: a few times a second, and not before the terminal has taken the last frame.

A slow link buffers seconds of frames between the screen and the user; a key's echo waits behind them all. So a live
frame is sent only after the last one has arrived: each frame is followed by a cursor query, which the terminal answers
when it reaches it. Drawing caused by a key does not pass through here and is never delayed.
"""

import asyncio
from collections.abc import Callable
from queue import Queue
from time import monotonic
from typing import Any

from textual.app import App
from textual.timer import Timer

# What was written to the terminal and whether it was taken: the only code that uses the library's internals.
#
# The library has no public counter of bytes written or waiting. Where these internal names have changed,
# both counts stay zero: the screen is then paced by time and by the terminal's own reports.

QUESTION = "\x1b[6n"
"""Queries the cursor position: every terminal replies in order, after all earlier output."""


class TerminalWriter:
    """The way to an application's terminal."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._metered: object = None
        self.sent = 0

    @property
    def waiting(self) -> int:
        """Pieces of output that the terminal has not started to take."""
        writer = getattr(self._driver(), "_writer_thread", None)
        queue = getattr(writer, "_queue", None)
        return queue.qsize() if isinstance(queue, Queue) else 0

    @property
    def answers(self) -> bool:
        """Whether there is a terminal that could reply."""
        return self._driver() is not None and not self._app.is_headless

    def meter(self) -> None:
        """Count what is written from now on in `sent`, in bytes: signs beyond ASCII take more than one."""
        driver = self._driver()
        write: Callable[[str], None] | None = getattr(driver, "write", None)
        if driver is None or write is None or driver is self._metered:
            return

        def counted(data: str) -> None:
            self.sent += len(data) if data.isascii() else len(data.encode(errors="replace"))
            write(data)

        setattr(driver, "write", counted)  # noqa: B010  visibly replaces a method of this one driver
        self._metered = driver

    def ask(self) -> None:
        """Send the cursor query, which the terminal answers after taking all earlier output."""
        write: Callable[[str], None] | None = getattr(self._driver(), "write", None)
        if write is not None:
            write(QUESTION)

    def _driver(self) -> object:
        return getattr(self._app, "_driver", None)


Callback = Callable[[], object]
"""Draws something. It returns True while there is more to draw, and is run again as soon as the link allows."""

HZ = 4.0
SLOW_HZ = 2.0

PATIENCE = 2.0
"""Seconds after which a terminal that has taken all output and not replied is treated as one that never replies."""

FLIGHT = 0.1
"""Seconds that a live frame may be in flight on a slow link: the longest delay of a key's echo."""

_LEAST, _MOST = 400, 2000
"""Least and greatest size of a live frame on a slow link, in bytes."""

_ASSUMED = 12_500.0
"""Assumed rate of a slow link before it is measured, in bytes a second: 100 kbit/s."""

_LATE = 0.05
"""Seconds that a reply takes longer than the quickest one, from which on the link is slow."""

_POLL = 0.05


class FrameRate:
    """Runs requested drawing at most `hz` times a second, each once; for one application, in its event loop.

    The application passes on the terminal's replies: `def on_cursor_position(self): self.pace.answered()`.
    """

    def __init__(self, app: App[Any], hz: float = HZ, *, slow: bool = False) -> None:
        self.hz = min(hz, SLOW_HZ) if slow else hz
        self.slow = slow
        self.wire = TerminalWriter(app)
        self.frames = 0
        self._app = app
        self._wanted: dict[Callback, None] = {}
        self._timer: Timer | None = None
        self._due = 0.0
        self._rate: float | None = _ASSUMED if slow else None
        self._quickest: float | None = None
        self._since: float | None = None
        self._asked = (0.0, 0)
        self._silent = False

    @property
    def room(self) -> int | None:
        """Size limit of a live frame in bytes; None where the link takes any size."""
        return None if self._rate is None else int(max(_LEAST, min(self._rate * FLIGHT, _MOST)))

    def want(self, job: Callback) -> None:
        """Request drawing at its next turn; requested twice before that, it is drawn once."""
        self._wanted[job] = None
        self._arm()

    def answered(self) -> None:
        """Handle the terminal's reply: all output before the query has arrived."""
        self._silent = False
        if self._since is None:
            return
        asked, size = self._asked
        if asked:
            self._measure(monotonic() - asked, size)
            self._since = None
            self._arm(again=True)

    async def settle(self, seconds: float = 0.5) -> None:
        """Wait for an outstanding reply, so that the shell does not receive it after the screens are gone."""
        end = monotonic() + seconds
        self._wanted.clear()
        while self._since is not None and monotonic() < end:
            await asyncio.sleep(0.01)

    def _arm(self, *, again: bool = False) -> None:
        if again and self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._timer is None and self._wanted:
            self._timer = self._app.set_timer(max(self._due - monotonic(), 0.001), self._turn)

    def _turn(self) -> None:
        self._timer = None
        if not self._app.screen_stack:  # the application is ending
            return
        now = monotonic()
        if not self._taken(now):
            self._due = max(self._due, now + _POLL)
            self._arm()
            return
        self.wire.meter()
        before = self.wire.sent
        jobs = list(self._wanted)
        self._wanted.clear()
        self.frames += 1
        self._since, self._asked = now, (0.0, 0)
        more = [job for job in jobs if job() is True]
        self._wanted.update(dict.fromkeys(more))
        self._due = now if more else now + 1 / self.hz
        if not self._app.call_after_refresh(self._drawn, before):
            self._since = None

    def _drawn(self, before: int) -> None:
        """Query the terminal after the frame, and leave keys as much of a slow link as the frame has taken."""
        now, size = monotonic(), self.wire.sent - before
        if self._rate is not None:
            self._due = max(self._due, now + 2 * size / self._rate)
        if size and self.wire.answers and not self._silent:
            self._since, self._asked = now, (now, size)
            self.wire.ask()
        else:
            self._since = None
        self._arm(again=True)

    def _taken(self, now: float) -> bool:
        """Whether the last frame has arrived, as far as known."""
        if self.wire.waiting:
            if self._since is not None:
                self._since = now
            return False
        if self._since is not None and now - self._since > PATIENCE:
            self._silent, self._since = True, None
        return self._since is None

    def _measure(self, seconds: float, size: int) -> None:
        """Estimate the link's rate from a reply; the quickest reply gives the latency."""
        self._quickest = seconds if self._quickest is None else min(self._quickest, seconds)
        late = seconds - self._quickest
        if late > _LATE:
            self._rate = size / late
        elif self.slow:
            self._rate = min((self._rate or _ASSUMED) * 2, _ASSUMED)
        elif self._rate is not None:
            self._rate = None if self._rate > _MOST / FLIGHT else self._rate * 2
