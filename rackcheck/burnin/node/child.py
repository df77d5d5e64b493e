"""Runs on the node: a child process, its output, and the pipe that is closed to ask the process to stop."""

import contextlib
import ctypes
import os
import signal
import threading
import time

PR_SET_PDEATHSIG = 1


class Child:
    """A child process: `out` is the pipe of its output; the pipe `control` is closed to ask the process to stop."""

    def __init__(self, name: str, pid: int, out: int, control: int) -> None:
        self.name, self.pid, self.out, self.control = name, pid, out, control
        self.rest = b""
        self.terminated_at, self.killed = 0.0, False

    def stop(self) -> None:
        """Ask the process to stop; a second call does nothing."""
        if not self.terminated_at:
            self.terminated_at = time.monotonic()
            os.close(self.control)

    def kill(self) -> None:
        """Kill the process and all processes that it started."""
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)


def wait_for_end(listen: int, stop: threading.Event) -> None:
    """Wait until the other end of the pipe `listen` is closed or broken, then set `stop`."""
    while True:
        try:
            if not os.read(listen, 1):
                break
        except OSError:
            break
    stop.set()


def die_with_parent() -> None:
    """Set this process to receive SIGKILL when its parent ends, if the operating system supports this."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
