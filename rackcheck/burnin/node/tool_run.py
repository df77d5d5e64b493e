"""Runs a tool on the node with a time limit, a limit on the size of its output, and its own process group.

The tool's process group gets SIGTERM and then SIGKILL when the time limit is reached or the burn-in stops. If this
process is killed, the kernel ends the tool. The tool is started without a shell.
"""

import ctypes
import os
import selectors
import signal
import subprocess
import time
from typing import Any, Callable, Dict, List, Sequence, Tuple

TOOL_OUT = 512 * 1024
"""Maximum size of the kept standard output, in bytes: its beginning is kept."""

TOOL_ERR = 4 * 1024
"""Maximum size of the kept standard error, in bytes: a quarter is its beginning, the rest its end."""

TOOL_STEP = 0.05
"""Seconds between two checks of `stop`."""

TOOL_GRACE = 1.5
"""Seconds between SIGTERM and SIGKILL: `dcgmi` needs this time to end its work in the host engine."""


def tool_run(
    argv: List[str],
    clock: Callable[[], float],
    stop: Any,
    until: float,
    most: float,
    settings: Sequence[Tuple[str, str]] = (),
) -> Dict[str, Any]:
    """Run a command until it ends, its time is over or `stop` is set; return the fields of its `tool` record.

    The command's time is over when `clock` reaches `until`, or `most` seconds after the start. A command with
    `settings`, which are environment variables, runs in the folder of its executable.
    """
    begun = clock()

    def over() -> str:
        if stop.is_set() or clock() >= until:
            return "stopped" if stop.is_set() else "stopped: the burn-in's time limit was reached"
        return f"hang: it did not end within {most:.0f} s" if clock() >= begun + most else ""

    try:
        child = tool_start(argv, settings)
    except (OSError, subprocess.SubprocessError) as error:
        return {"status": None, "seconds": 0.0, "out": "", "err": "", "why": f"denied: {error}"}
    kept = {"out": _ToolKept(TOOL_OUT, 0), "err": _ToolKept(TOOL_ERR // 4, TOOL_ERR - TOOL_ERR // 4)}
    why = ""
    with selectors.DefaultSelector() as waiting:
        for name, pipe in (("out", child.stdout), ("err", child.stderr)):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                waiting.register(pipe, selectors.EVENT_READ, name)
        # A grandchild may keep a pipe open after the tool has ended; only the tool's own end counts.
        while waiting.get_map() and child.poll() is None:
            why = over()
            if why:
                break
            for key, _ in waiting.select(TOOL_STEP):
                _tool_take(key, waiting, kept)
        while child.poll() is None and not why:  # both pipes are closed, but the tool is still running
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
    """The kept parts of an output: at most `first` bytes of its beginning, and at most `last` bytes of its end."""

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last, self.cut = first, last, 0
        self.head, self.tail = bytearray(), bytearray()

    def take(self, data: bytes) -> None:
        """Add new bytes of the output; bytes outside of the kept beginning and end are dropped and counted in `cut`."""
        room = self.first - len(self.head)
        self.head += data[:room]
        self.tail += data[room:]
        over = len(self.tail) - self.last
        if over > 0:
            self.cut += over
            del self.tail[:over]

    def text(self) -> str:
        """Return the kept bytes as text; a line `...` replaces bytes dropped between the beginning and the end."""
        between = b"\n...\n" if self.cut and self.last else b""
        return bytes(self.head + between + self.tail).decode("utf-8", "replace")


def _tool_take(key: Any, waiting: Any, kept: Dict[str, _ToolKept]) -> None:
    """Read the available bytes of a pipe, 4 MiB at most, since a tool may print without end."""
    for _ in range(64):
        try:
            data = os.read(key.fd, 65536)
        except BlockingIOError:
            return
        if not data:
            waiting.unregister(key.fileobj)
            return
        kept[key.data].take(data)


_TOOL_PRCTL = ctypes.PyDLL(None).prctl  # loaded before the fork: a child may not load code safely


def _tool_follow() -> None:
    _TOOL_PRCTL(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG


def tool_start(argv: List[str], settings: Sequence[Tuple[str, str]] = ()) -> Any:
    """Start a command in its own session, with an environment that has none of the user's settings."""
    keep = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return subprocess.Popen(  # noqa: S603  the arguments are fixed in this package
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=os.path.dirname(argv[0]) if settings else "/",  # noqa: PTH120  a path as text, as in Popen
        env=dict(keep, LC_ALL="C", CUDA_CACHE_DISABLE="1", **dict(settings)),
        start_new_session=True,
        preexec_fn=_tool_follow,  # noqa: PLW1509  it imports nothing and does not wait
    )


def tool_end(child: Any) -> None:
    """Kill a command and all processes that it started."""
    for number, seconds in ((signal.SIGTERM, TOOL_GRACE), (signal.SIGKILL, TOOL_GRACE)):
        try:
            os.killpg(child.pid, number)
        except OSError:
            break
        limit = time.monotonic() + seconds
        while child.poll() is None and time.monotonic() < limit:
            time.sleep(0.01)
    child.poll()
