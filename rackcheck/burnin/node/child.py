"""Runs on the node: a process that works, what it writes, and the pipe whose end tells it to stop."""

import contextlib
import ctypes
import os
import signal
import threading
import time

PR_SET_PDEATHSIG = 1


class Child:
    """A process of ours: its pid, what it writes, and the pipe whose end tells it to stop."""

    def __init__(self, name: str, pid: int, out: int, control: int) -> None:
        self.name, self.pid, self.out, self.control = name, pid, out, control
        self.rest = b""
        self.told, self.killed = 0.0, False

    def stop(self) -> None:
        """Tell it to stop, once."""
        if not self.told:
            self.told = time.monotonic()
            os.close(self.control)

    def kill(self) -> None:
        """End it and what it started."""
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)


def wait_for_end(listen: int, stop: threading.Event) -> None:
    """Set an event once the other end of a pipe is closed."""
    while True:
        try:
            if not os.read(listen, 1):
                break
        except OSError:
            break
    stop.set()


def die_with_parent() -> None:
    """Let the kernel end us with our parent, where it can."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
