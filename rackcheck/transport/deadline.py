"""A deadline that stops a connection or a command from another thread."""

import heapq
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

IDLE = 5.0
"""Seconds without a deadline after which the thread that waits for deadlines ends."""


class Alarms:
    """Calls functions at their times: one thread waits for all, since one for each connection took a tenth of its CPU.

    Each function is called in a thread of its own, for it may wait for a server.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._cancelled: set[int] = set()
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._runs = False

    def add(self, due: float, call: Callable[[], None]) -> int:
        """Call a function at a time of the monotonic clock; return the number of the alarm."""
        with self._changed:
            number = next(self._numbers)
            heapq.heappush(self._waiting, (due, number, call))
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, daemon=True, name="deadlines").start()
            elif self._waiting[0][1] == number:
                self._changed.notify()
            return number

    def cancel(self, number: int) -> None:
        """Do not call the function of an alarm, if it has not been called."""
        with self._changed:
            self._cancelled.add(number)
            if 2 * len(self._cancelled) > len(self._waiting) + 64:
                self._waiting = [each for each in self._waiting if each[1] not in self._cancelled]
                heapq.heapify(self._waiting)
                self._cancelled.clear()

    def _run(self) -> None:
        while (call := self._next()) is not None:
            threading.Thread(target=call, daemon=True, name="deadline").start()

    def _next(self) -> Callable[[], None] | None:
        """Wait for the next alarm, and return its function; None if there was none for a while."""
        with self._changed:
            while True:
                while self._waiting and self._waiting[0][1] in self._cancelled:
                    self._cancelled.discard(heapq.heappop(self._waiting)[1])
                if not self._waiting:
                    if not self._changed.wait(IDLE) and not self._waiting:
                        self._runs = False
                        return None
                    continue
                left = self._waiting[0][0] - time.monotonic()
                if left <= 0:
                    return heapq.heappop(self._waiting)[2]
                self._changed.wait(left)


_alarms = Alarms()
"""The deadlines of all connections of this process."""


class Deadline:
    """Calls `stop` after a number of seconds, unless it is cancelled before; `passed` is true once it has called it."""

    def __init__(self, seconds: float, stop: Callable[[], None]) -> None:
        self._stop = stop
        self.passed = False
        self._start(seconds)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count the time within the block."""
        left = max(0.0, self._until - time.monotonic())
        self.cancel()
        try:
            yield
        finally:
            self._start(left)

    def cancel(self) -> None:
        """Never call `stop`."""
        _alarms.cancel(self._alarm)

    def _start(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._alarm = _alarms.add(self._until, self._pass)

    def _pass(self) -> None:
        self.passed = True
        self._stop()
