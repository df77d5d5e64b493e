"""Ctrl-C while nodes are asked."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from rackcheck.cli.output import note


@contextmanager
def stopped_by_ctrl_c(stop: threading.Event) -> Iterator[None]:
    """Let the first Ctrl-C stop the run in order, and the second one at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def first(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        stop.set()
        note("stopping: what came in is kept; Ctrl-C again ends at once")

    before = signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
