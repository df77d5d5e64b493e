"""Handles Ctrl-C and other signals that end a run while nodes are read."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a run."""

Handler = Callable[[int, FrameType | None], Any] | int | None


@contextmanager
def stopped_by_ctrl_c(stop: threading.Event) -> Iterator[None]:
    """On the first Ctrl-C set `stop`, so that the run ends cleanly; the second Ctrl-C ends it immediately."""
    from rackcheck.session.output import note  # noqa: PLC0415  imports the views, which help does not need

    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def first(_number: int, _frame: FrameType | None) -> None:
        _restore(before)
        stop.set()
        note("stopping: collected answers are kept; Ctrl-C again ends at once")

    before = {number: signal.signal(number, first) for number in ENDS if signal.getsignal(number) is not signal.SIG_IGN}
    try:
        yield
    finally:
        _restore(before)


def heed_ends() -> None:
    """Treat SIGTERM and SIGHUP (from cron, CI or a closed terminal) like Ctrl-C, so that no BMC sessions stay open."""
    for number in ENDS:
        if signal.getsignal(number) is signal.SIG_DFL:  # keep what nohup or a shell's trap has set
            signal.signal(number, signal.default_int_handler)


def _restore(before: Mapping[signal.Signals, Handler]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)
