"""Events of a reading that runs in another thread; the screen takes the events when it has time."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator

from rackcheck.run.event import Event

AHEAD = 2048
"""Maximum number of queued events; if the queue is full, the reading waits."""


class Feed:
    """Runs a reading in its own thread; `take` returns the events, each with the time at which it arrived."""

    def __init__(self) -> None:
        self._came: deque[tuple[Event, float]] = deque()
        self._room = threading.Event()
        self._thread: threading.Thread | None = None
        self.failed: Exception | None = None

    @property
    def running(self) -> bool:
        """Return whether more events may arrive."""
        return bool(self._came) or (self._thread is not None and self._thread.is_alive())

    def start(self, events: Callable[[], Iterator[Event]]) -> None:
        """Start a thread that reads the events of a reading; events left from an earlier reading are dropped."""
        came: deque[tuple[Event, float]] = deque()
        self._came = came
        self.failed = None

        def read() -> None:
            try:
                for event in events():
                    while len(came) >= AHEAD and self._came is came:
                        self._room.wait(0.05)
                        self._room.clear()
                    if self._came is not came:
                        return
                    came.append((event, time.monotonic()))
            except Exception as error:  # noqa: BLE001  an exception in the thread: `take` reports it
                if self._came is came:
                    self.failed = error

        self._thread = threading.Thread(target=read, daemon=True, name="feed")
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Wait at most `seconds` for the reading to end, and discard its events."""
        until = time.monotonic() + seconds
        while self._thread is not None and self._thread.is_alive() and time.monotonic() < until:
            self._came.clear()
            self._room.set()
            self._thread.join(0.05)
        self._came.clear()

    def take(self, seconds: float) -> Iterator[tuple[Event, float]]:
        """Yield queued events for at most `seconds`, so that the screen can do its other work."""
        until = time.monotonic() + seconds
        while self._came and time.monotonic() < until:
            yield self._came.popleft()
        self._room.set()
