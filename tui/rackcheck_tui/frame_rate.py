"""Limits how often live content is drawn: a few times a second, and never before the last frame was received.

A slow link buffers seconds of frames, and the echo of a key waits behind all of them. A live frame is sent only after
the terminal has received the previous frame: a cursor query follows each frame, and the terminal answers it after it
has received all output before the query. Drawing that is caused by a key is never limited or delayed.
"""

import asyncio
from collections.abc import Callable
from queue import Queue
from time import monotonic, process_time
from typing import Any

from textual.app import App

# `TerminalWriter` reads what was written to the terminal, and whether the terminal has taken it. Only this class uses
# Textual's internals here.
# The library has no public counter of bytes written or waiting. If these internal names have changed,
# both counts stay zero: the screen is then paced by time and by the terminal's own reports.

QUESTION = "\x1b[6n"
"""Queries the cursor position: every terminal answers queries in order, after all earlier output."""


class TerminalWriter:
    """Access to an application's terminal: the output that waits, and the bytes sent."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._metered: object = None
        self.sent = 0

    @property
    def waiting(self) -> int:
        """Return the number of pieces of output that the terminal has not started to take."""
        writer = getattr(self._driver(), "_writer_thread", None)
        queue = getattr(writer, "_queue", None)
        return queue.qsize() if isinstance(queue, Queue) else 0

    @property
    def answers(self) -> bool:
        """Return whether there is a terminal that can answer cursor queries."""
        return self._driver() is not None and not self._app.is_headless

    def meter(self) -> None:
        """Start to count the written bytes in `sent`; a character outside ASCII has more than one byte."""
        driver = self._driver()
        write: Callable[[str], None] | None = getattr(driver, "write", None)
        if driver is None or write is None or driver is self._metered:
            return

        def counted(data: str) -> None:
            self.sent += len(data) if data.isascii() else len(data.encode(errors="replace"))
            write(data)

        setattr(driver, "write", counted)  # noqa: B010  replaces a method of this one driver, visibly
        self._metered = driver

    def ask(self) -> None:
        """Send the cursor query, which the terminal answers after it has taken all earlier output."""
        write: Callable[[str], None] | None = getattr(self._driver(), "write", None)
        if write is not None:
            write(QUESTION)

    def _driver(self) -> object:
        return getattr(self._app, "_driver", None)


def once(app: App[Any], seconds: float, call: Callable[[], object]) -> asyncio.TimerHandle:
    """Call a function of the application after so many seconds, unless the handle is cancelled before.

    `App.set_timer` skips a call that it considers late: if this process is not executed for longer than the delay just
    when the timer begins to wait, the function is never called, and a chain of such calls ends.
    """
    return asyncio.get_running_loop().call_later(seconds, app.call_next, call)


Callback = Callable[[], object]
"""A function that draws something; if it returns True, there is more to draw, and it is called again later."""

HZ = 4.0
SLOW_HZ = 2.0

PATIENCE = 2.0
"""If a terminal has taken all output and does not answer for this many seconds, it is assumed never to answer."""

FLIGHT = 0.1
"""Maximum time (s) that a live frame takes on a slow link; the echo of a key is delayed by at most this time."""

_LEAST, _MOST = 400, 2000
"""Minimum and maximum size of a live frame on a slow link, in bytes."""

LONGEST = 2.0
"""Maximum pause (s) after a frame: content stays live, however low the rate of the link is estimated."""

_ASSUMED = 12_500.0
"""Assumed rate of a slow link before it is measured, in bytes per second: 100 kbit/s."""

_LATE = 0.05
"""The link counts as slow if a reply takes this many seconds longer than the quickest reply.

CPU time of this process is subtracted: during an audit, the reply often waits for this process and not for the link.
"""

_POLL = 0.05


class FrameRate:
    """Calls the drawing functions of an application, at most `hz` times a second, in its event loop.

    The application passes on the terminal's replies: `def on_cursor_position(self): self.pace.answered()`.
    """

    def __init__(self, app: App[Any], hz: float = HZ, *, slow: bool = False) -> None:
        self.hz = min(hz, SLOW_HZ) if slow else hz
        self.slow = slow
        self.wire = TerminalWriter(app)
        self.frames = 0
        self._app = app
        self._wanted: dict[Callback, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._rate: float | None = _ASSUMED if slow else None
        self._quickest: float | None = None
        self._since: float | None = None
        self._asked = (0.0, 0.0, 0)
        self._silent = False

    @property
    def room(self) -> int | None:
        """Return the maximum size of a live frame in bytes; None if the link takes any size."""
        return None if self._rate is None else int(max(_LEAST, min(self._rate * FLIGHT, _MOST)))

    @property
    def pending(self) -> bool:
        """Return whether a drawing function is to be called for the next frame."""
        return bool(self._wanted)

    def want(self, job: Callback) -> None:
        """Call a drawing function for the next frame, and only once even if it is requested twice."""
        self._wanted[job] = None
        self._arm()

    def answered(self) -> None:
        """Handle the terminal's reply to a cursor query: all output before the query has been received."""
        self._silent = False
        if self._since is None:
            return
        asked, busy, size = self._asked
        if asked:
            self._measure(monotonic() - asked, size, process_time() - busy)
            self._since = None
            self._arm(again=True)

    async def settle(self, seconds: float = 0.5) -> None:
        """Wait for an outstanding reply, so that the shell does not receive it after the screens are closed."""
        end = monotonic() + seconds
        self._wanted.clear()
        while self._since is not None and monotonic() < end:
            await asyncio.sleep(0.01)

    def _arm(self, *, again: bool = False) -> None:
        if again and self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._timer is None and self._wanted:
            self._timer = once(self._app, max(self._due - monotonic(), 0.001), self._turn)

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
        self._since, self._asked = now, (0.0, 0.0, 0)
        more = [job for job in jobs if job() is True]
        self._wanted.update(dict.fromkeys(more))
        self._due = now if more else now + 1 / self.hz
        if not self._app.call_after_refresh(self._drawn, before):
            self._since = None

    def _drawn(self, before: int) -> None:
        """Query the terminal after the frame; on a slow link, delay the next frame to keep the link free for keys."""
        now, size = monotonic(), self.wire.sent - before
        if self._rate is not None:
            self._due = max(self._due, now + min(2 * size / self._rate, LONGEST))
        if size and self.wire.answers and not self._silent:
            self._since, self._asked = now, (now, process_time(), size)
            self.wire.ask()
        else:
            self._since = None
        self._arm(again=True)

    def _taken(self, now: float) -> bool:
        """Return whether the last frame was received, as far as that is known."""
        if self.wire.waiting:
            if self._since is not None:
                self._since = now
            return False
        if self._since is not None and now - self._since > PATIENCE:
            self._silent, self._since = True, None
        return self._since is None

    def _measure(self, seconds: float, size: int, busy: float = 0.0) -> None:
        """Estimate the link's rate from a reply; the quickest reply gives the latency.

        `busy` is the CPU time that this process used meanwhile. A late reply after a frame of less than `_LEAST` bytes
        is ignored: the frame is too small to show the rate.
        """
        self._quickest = seconds if self._quickest is None else min(self._quickest, seconds)
        late = seconds - self._quickest - busy
        if late > _LATE:
            if size >= _LEAST:
                self._rate = size / late
        elif self.slow:
            self._rate = min((self._rate or _ASSUMED) * 2, _ASSUMED)
        elif self._rate is not None:
            self._rate = None if self._rate > _MOST / FLIGHT else self._rate * 2
