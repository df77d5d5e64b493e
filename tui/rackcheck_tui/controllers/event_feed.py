"""Events of a reading that runs in another thread; the screen takes the events when it has time."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress

from rackcheck.run.event import Event, FactsRead

AHEAD = 2048
"""Maximum number of queued events; if the queue is full, the reading waits."""

TREES = 8
"""Maximum number of queued events with all facts of a node, which take 2 MB each."""


class _EventQueue:
    """The events of one reading, each with the time at which it arrived."""

    def __init__(self) -> None:
        self.events: deque[tuple[Event, float]] = deque()
        self._trees = 0
        self._lock = threading.Lock()

    @property
    def full(self) -> bool:
        return len(self.events) >= AHEAD or self._trees >= TREES

    def put(self, event: Event) -> None:
        self._count(event, 1)
        self.events.append((event, time.monotonic()))

    def get(self) -> tuple[Event, float]:
        event, at = self.events.popleft()
        self._count(event, -1)
        return event, at

    def clear(self) -> None:
        while self.events:
            with suppress(IndexError):  # the screen may take the last event
                self.get()

    def _count(self, event: Event, more: int) -> None:
        if isinstance(event, FactsRead):
            with self._lock:
                self._trees += more


class Feed:
    """Runs a reading in its own thread; `take` returns the events, each with the time at which it arrived."""

    def __init__(self) -> None:
        self._came = _EventQueue()
        self._room = threading.Event()
        self._thread: threading.Thread | None = None
        self.failed: Exception | None = None

    @property
    def running(self) -> bool:
        """Return whether more events may arrive."""
        return bool(self._came.events) or (self._thread is not None and self._thread.is_alive())

    @property
    def waiting(self) -> bool:
        """Return whether events are queued."""
        return bool(self._came.events)

    def start(self, events: Callable[[], Iterator[Event]]) -> None:
        """Start a thread that reads the events of a reading; events left from an earlier reading are dropped."""
        came = _EventQueue()
        self._came = came
        self.failed = None

        def read() -> None:
            try:
                for event in events():
                    while came.full and self._came is came:
                        self._room.wait(0.05)
                        self._room.clear()
                    if self._came is not came:
                        return
                    came.put(event)
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
        while self._came.events and time.monotonic() < until:
            yield self._came.get()
            self._room.set()
        self._room.set()
