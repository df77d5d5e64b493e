"""Transport to this very machine: the same script, through `sh`."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

from rackcheck.core.fact import Reason, Unknown
from rackcheck.wire import LARGE, Limits, Reply, drain, stamped


def run(script: str, limits: Limits) -> Reply:
    """Run a script on this machine under the same deadline and cap as over SSH."""
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-s"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return Reply(b"", Unknown(Reason.TOOL_MISSING, f"/bin/sh: {error.strerror}"))
    assert process.stdin is not None and process.stdout is not None  # noqa: PT018
    out = process.stdout.fileno()
    late = threading.Event()

    def stop() -> None:
        late.set()
        _end(process)

    timer = threading.Timer(limits.deadline, stop)
    timer.start()
    try:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(stamped(script).encode())
            process.stdin.close()
        raw, stopped = drain(lambda size: os.read(out, size), limits.cap)
    finally:
        timer.cancel()
        _end(process)
        process.wait()
        process.stdout.close()
    if stopped == LARGE:
        return Reply(raw, Unknown(Reason.TOO_LARGE, f"more than {limits.cap} bytes"))
    if late.is_set():
        return Reply(raw, Unknown(Reason.TIMEOUT, f"no end within {limits.deadline:g} s"))
    return Reply(raw, Unknown(Reason.NOT_COLLECTED, "the answer ended early"))


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End what is left of the script; its commands run in its own session, each `timeout` in a group of its own."""
    for group in {process.pid, *_groups(process.pid)}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _groups(session: int) -> Iterator[int]:
    """Give the groups of processes in a session, where the kernel shows them as files."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            # After the name, which may hold blanks and brackets: state, parent, group, session.
            group, of = stat.read_text(errors="replace").rpartition(")")[2].split()[2:4]
            if int(of) == session:
                yield int(group)
