"""A deadline that stops a connection or a command from another thread."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
        self._timer.cancel()

    def _start(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._timer = threading.Timer(seconds, self._pass)
        self._timer.daemon = True
        self._timer.start()

    def _pass(self) -> None:
        self.passed = True
        self._stop()
