"""Ctrl-C, or another wish that we end, while nodes are asked."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rackcheck.session.output import note

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that ask us to end."""

Handler = Callable[[int, FrameType | None], Any] | int | None


@contextmanager
def stopped_by_ctrl_c(stop: threading.Event) -> Iterator[None]:
    """Let the first Ctrl-C stop the run in order, and the second one at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def first(_number: int, _frame: FrameType | None) -> None:
        _restore(before)
        stop.set()
        note("stopping: what came in is kept; Ctrl-C again ends at once")

    before = {number: signal.signal(number, first) for number in ENDS if signal.getsignal(number) is not signal.SIG_IGN}
    try:
        yield
    finally:
        _restore(before)


def heed_ends() -> None:
    """Let SIGTERM and SIGHUP (cron, CI, a closed terminal) do what Ctrl-C does: a BMC keeps sessions that are left."""
    for number in ENDS:
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup and a shell's trap keep their say
            signal.signal(number, signal.default_int_handler)


def _restore(before: Mapping[signal.Signals, Handler]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)
