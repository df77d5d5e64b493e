"""Runs on the node: a child process, its output, and the pipe of its orders, which is closed to stop the process."""

import contextlib
import ctypes
import json
import os
import queue
import signal
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, Optional

PR_SET_PDEATHSIG = 1


class Child:
    """A child process: `out` is the pipe of its output; the pipe `control` has its orders, one JSON object per line.

    The pipe `control` is closed to ask the process to stop.
    """

    def __init__(self, name: str, pid: int, out: int, control: int) -> None:
        self.name, self.pid, self.out, self.control = name, pid, out, control
        self.rest = b""
        self.terminated_at, self.killed = 0.0, False

    def stop(self, why: str = "") -> None:
        """Ask the process to stop, for the reason `why` if it is given; a second call does nothing."""
        if why:
            self.order({"stop": why})
        if not self.terminated_at:
            self.terminated_at = time.monotonic()
            os.close(self.control)

    def order(self, words: Dict[str, Any]) -> None:
        """Send an order; a process that ended, or was asked to stop, gets none."""
        if not self.terminated_at:
            with contextlib.suppress(OSError):
                os.write(self.control, (json.dumps(words, separators=(",", ":")) + "\n").encode("ascii"))

    def kill(self) -> None:
        """Kill the process and all processes that it started."""
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)


class StopEvent(threading.Event):
    """Set when a child process must stop; `why` is the reason, if the supervisor gave one."""

    why = ""


class Orders:
    """The orders that a child process receives, and `stop`, which is set when it is asked to stop."""

    def __init__(self, stop: threading.Event) -> None:
        self.stop = stop
        self._came: queue.Queue[Dict[str, Any]] = queue.Queue()
        self._lock = threading.Lock()
        self._each: Optional[Callable[[Dict[str, Any]], None]] = None

    def next(self, seconds: float = float("inf")) -> Optional[Dict[str, Any]]:
        """Wait for the next order; return {} after `seconds`, and None if the process must stop."""
        end = time.monotonic() + seconds
        while not self.stop.is_set():
            with contextlib.suppress(queue.Empty):
                return self._came.get(timeout=0.02)
            if time.monotonic() > end:
                return {}
        return None

    def each(self, handle: Callable[[Dict[str, Any]], None]) -> None:
        """Call `handle` with each order, in the thread that reads them; `next` returns none of them."""
        with self._lock:
            self._each = handle
            while not self._came.empty():
                handle(self._came.get())

    def listen(self, control: int) -> None:
        """Read orders until the other end of the pipe `control` is closed or broken, then set `stop`."""
        rest = b""
        while True:
            try:
                data = os.read(control, 1 << 16)
            except OSError:
                break
            if not data:
                break
            lines = (rest + data).split(b"\n")
            rest = lines.pop()
            for line in lines:
                order = json.loads(line.decode("ascii"))
                with self._lock:
                    if "stop" in order:
                        if isinstance(self.stop, StopEvent):
                            self.stop.why = order["stop"]
                    elif self._each:
                        self._each(order)
                    else:
                        self._came.put(order)
        self.stop.set()


def oom_kills(root: str = "") -> int:
    """Return how many processes the kernel has killed for lack of memory, in any control group; 0 if unreadable."""
    with contextlib.suppress(OSError, ValueError), Path(root + "/proc/vmstat").open(encoding="ascii") as file:
        lines = dict(line.split() for line in file)
        return int(lines.get("oom_kill", 0))
    return 0


def die_with_parent() -> None:
    """Set this process to receive SIGKILL when its parent ends, if the operating system supports this."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
