"""Runs scripts and commands on this machine with `sh`, in the same way as the SSH transport on a node."""

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.transport.memory import Allowance
from rackcheck.transport.wire import LARGE, CommandStream, ShellLimits, ShellReply, drain, stamped


def run(script: str, limits: ShellLimits, allowance: Allowance | None = None) -> ShellReply:
    """Run a script on this machine; the deadline and the size limits are the same as over SSH."""
    allowance = allowance or Allowance()
    allowance.until = time.monotonic() + limits.deadline
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-s"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return ShellReply(b"", Unknown(Reason.TOOL_MISSING, f"/bin/sh: {error.strerror}"))
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
        raw, stopped = drain(lambda size: os.read(out, size), limits.cap, allowance)
    finally:
        timer.cancel()
        _end(process)
        process.wait()
        process.stdout.close()
    if isinstance(stopped, Unknown):
        return ShellReply(raw, stopped)
    if stopped == LARGE:
        return ShellReply(raw, Unknown(Reason.TOO_LARGE, f"more than {limits.cap} bytes"))
    if late.is_set():
        return ShellReply(raw, Unknown(Reason.TIMEOUT, f"not finished within {limits.deadline:g} s"))
    return ShellReply(raw, Unknown(Reason.NOT_COLLECTED, "the answer ended early"))


def talk(command: str, limits: ShellLimits, speak: Callable[[CommandStream], Unknown]) -> ShellReply:
    """Run a command on this machine, and call `speak` with the command's input and output stream, as over SSH."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(  # noqa: S603  the command is rackcheck's own, and the same for every node
        ["/bin/sh", "-c", command], stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )  # fmt: skip
    late = threading.Event()

    def stop() -> None:
        late.set()
        _end(process)

    timer = threading.Timer(limits.deadline, stop)
    timer.start()
    try:
        why = speak(_Pipes(process))
    finally:
        timer.cancel()
        _end(process)
        process.wait()
        for end in (process.stdin, process.stdout, process.stderr):
            assert end is not None
            with contextlib.suppress(BrokenPipeError):
                end.close()
    return ShellReply(
        b"", Unknown(Reason.TIMEOUT, f"not finished within {limits.deadline:g} s") if late.is_set() else why
    )


class _Pipes:
    """A stream to a local process; `wire.CommandStream` documents its methods."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None  # noqa: PT018
        self._process = process
        self._in, self._out, self._err = process.stdin.fileno(), process.stdout.fileno(), process.stderr.fileno()
        self._open, self._complaints = True, b""
        os.set_blocking(self._in, False)
        os.set_blocking(self._err, False)

    def send(self, data: bytes, seconds: float) -> None:
        until = time.monotonic() + seconds
        while data:
            _, ready, _ = select.select([], [self._in], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("the command does not read its input")
            with contextlib.suppress(BlockingIOError):
                data = data[os.write(self._in, data) :]

    def receive(self, seconds: float) -> bytes | None:
        ready, _, _ = select.select([self._out, self._err], [], [], seconds)
        if self._err in ready:
            self._complain()
        return os.read(self._out, 1 << 16) if self._out in ready else None

    def _complain(self) -> None:
        with contextlib.suppress(OSError):
            self._complaints = (self._complaints + os.read(self._err, 1 << 16))[-4096:]

    def finish(self) -> None:
        if self._open:
            self._open = False
            assert self._process.stdin is not None
            self._process.stdin.close()

    def close(self) -> None:
        _end(self._process)

    def ended(self) -> tuple[int | None, str]:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        self._complain()
        lines = self._complaints.decode("utf-8", "replace").strip().splitlines()
        return self._process.returncode, clean(lines[-1][-200:]) if lines else ""


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill all process groups in the session of a script: each `timeout` of the script has its own process group."""
    for group in {process.pid, *_groups(process.pid)}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _groups(session: int) -> Iterator[int]:
    """Yield the process groups of a session; on a system without /proc, yield nothing."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            # After the name, which may contain blanks and brackets, the fields are state, parent, group, session.
            group, of = stat.read_text(errors="replace").rpartition(")")[2].split()[2:4]
            if int(of) == session:
                yield int(group)
