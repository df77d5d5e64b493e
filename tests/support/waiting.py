"""Waits for an event: no longer than the event takes, and as long as a busy machine may need."""

import time
from collections.abc import Callable

PATIENCE = 120.0
"""Seconds after which an expected event is reported as missing."""


def until(true: Callable[[], object], words: str, pause: float = 0.02) -> None:
    """Wait until a condition is true; raises AssertionError with these words where it never is."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, words
        time.sleep(pause)
