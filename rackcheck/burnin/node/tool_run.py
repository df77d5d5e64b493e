"""Runs a tool on the node: for a time, with an answer of bounded size, in a process group of its own.

The group gets SIGTERM and then SIGKILL when the time is over or the burn-in stops; should this process be killed, the
kernel ends the tool. No shell runs.
"""

import ctypes
import os
import selectors
import signal
import subprocess
import time
from typing import Any, Callable, Dict, List

TOOL_OUT = 512 * 1024
"""Bytes of standard output that are kept: its beginning."""

TOOL_ERR = 4 * 1024
"""Bytes of standard error that are kept: a quarter from its beginning, the rest from its end."""

TOOL_STEP = 0.05
"""Seconds between two looks at `stop`."""

TOOL_GRACE = 1.5
"""Seconds between SIGTERM and SIGKILL: `dcgmi` uses them to end what it began in the host engine."""


def tool_run(argv: List[str], clock: Callable[[], float], stop: Any, until: float, most: float) -> Dict[str, Any]:
    """Run a command to its end, or until it must end; give what a record tells of it."""
    begun = clock()

    def over() -> str:
        if stop.is_set() or clock() >= until:
            return "stopped" if stop.is_set() else "stopped: the time of the burn-in was over"
        return f"hang: it had not ended after {most:.0f} s" if clock() >= begun + most else ""

    try:
        child = tool_start(argv)
    except (OSError, subprocess.SubprocessError) as error:
        return {"status": None, "seconds": 0.0, "out": "", "err": "", "why": f"denied: {error}"}
    kept = {"out": _ToolKept(TOOL_OUT, 0), "err": _ToolKept(TOOL_ERR // 4, TOOL_ERR - TOOL_ERR // 4)}
    why = ""
    with selectors.DefaultSelector() as waiting:
        for name, pipe in (("out", child.stdout), ("err", child.stderr)):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                waiting.register(pipe, selectors.EVENT_READ, name)
        # A grandchild may hold a pipe open after the tool has ended: the tool's end is the end.
        while waiting.get_map() and child.poll() is None:
            why = over()
            if why:
                break
            for key, _ in waiting.select(TOOL_STEP):
                _tool_take(key, waiting, kept)
        while child.poll() is None and not why:  # both pipes are shut, and it goes on
            why = over()
            time.sleep(TOOL_STEP)
        seconds = clock() - begun
        tool_end(child)
        for key in list(waiting.get_map().values()):
            _tool_take(key, waiting, kept)
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
    values = {"status": None if why else child.returncode, "seconds": round(seconds, 3)}  # type: Dict[str, Any]
    values.update((name, part.text()) for name, part in kept.items())
    if why:
        values["why"] = why
    if kept["out"].cut:
        values["cut"] = kept["out"].cut
    return values


class _ToolKept:
    """What is kept of a stream: so many bytes of its beginning, and so many of its end."""

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last, self.cut = first, last, 0
        self.head, self.tail = bytearray(), bytearray()

    def take(self, data: bytes) -> None:
        """Take what came; what no longer fits is counted."""
        room = self.first - len(self.head)
        self.head += data[:room]
        self.tail += data[room:]
        over = len(self.tail) - self.last
        if over > 0:
            self.cut += over
            del self.tail[:over]

    def text(self) -> str:
        """Give it as text; a mark stands where bytes were dropped between the two."""
        between = b"\n...\n" if self.cut and self.last else b""
        return bytes(self.head + between + self.tail).decode("utf-8", "replace")


def _tool_take(key: Any, waiting: Any, kept: Dict[str, _ToolKept]) -> None:
    """Take what lies in a pipe now, at most a second's worth of a tool that prints without end."""
    for _ in range(64):
        try:
            data = os.read(key.fd, 65536)
        except BlockingIOError:
            return
        if not data:
            waiting.unregister(key.fileobj)
            return
        kept[key.data].take(data)


_TOOL_PRCTL = ctypes.PyDLL(None).prctl  # looked up here: after a fork only what is loaded already is safe


def _tool_follow() -> None:
    _TOOL_PRCTL(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG


def tool_start(argv: List[str]) -> Any:
    """Start a command in a session of its own, with an environment in which a user's settings do not stand."""
    keep = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return subprocess.Popen(  # noqa: S603  its words are fixed
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env=dict(keep, LC_ALL="C", CUDA_CACHE_DISABLE="1"),
        start_new_session=True,
        preexec_fn=_tool_follow,  # noqa: PLW1509  it imports nothing and waits for nobody
    )


def tool_end(child: Any) -> None:
    """End what is left of a command and of all that it started."""
    for number, seconds in ((signal.SIGTERM, TOOL_GRACE), (signal.SIGKILL, TOOL_GRACE)):
        try:
            os.killpg(child.pid, number)
        except OSError:
            break
        limit = time.monotonic() + seconds
        while child.poll() is None and time.monotonic() < limit:
            time.sleep(0.01)
    child.poll()
