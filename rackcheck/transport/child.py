"""A child process that reads a script or talks: a shell on this machine, or the OpenSSH client of a node."""

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.transport.deadline import Deadline
from rackcheck.transport.memory import Allowance
from rackcheck.transport.wire import LARGE, CommandStream, ConnectStage, ShellLimits, ShellReply, drain, stamped

KEPT = 4096
"""Number of bytes that are kept of the end of standard error."""


class Child:
    """A running command, as a stream (`wire.CommandStream`).

    At its deadline, and when the block ends, the command is killed with all processes of its session. `late` is true
    after the deadline, `heard` once `receive` has returned output. Raises OSError if the command cannot be started.
    """

    def __init__(self, words: Sequence[str], limits: ShellLimits) -> None:
        pipe = subprocess.PIPE
        # The commands are rackcheck's own; a new session has no terminal from which a password could be read.
        self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)  # noqa: S603
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: PT018
        self._in, self._out, self._open = self._process.stdin.fileno(), self._process.stdout.fileno(), True
        os.set_blocking(self._in, False)
        self._end_of_complaints, self.heard = b"", False
        # Standard error is read in parallel: if its pipe were full, the command would wait.
        self._reader = threading.Thread(target=self._complain, daemon=True, name="complaints")
        self._reader.start()
        self.deadline = Deadline(limits.deadline, lambda: _end(self._process))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.deadline.cancel()
        _end(self._process)
        self._process.wait()
        self._reader.join(1.0)
        for end in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert end is not None
            with contextlib.suppress(OSError):
                end.close()

    @property
    def late(self) -> bool:
        """Whether the command was killed at its deadline."""
        return self.deadline.passed

    def read(self, size: int) -> bytes:
        """Read the output of the command; wait for it, and return an empty text at its end."""
        return os.read(self._out, size)

    def send(self, data: bytes, seconds: float) -> None:
        """Write to the command; raise TimeoutError if it reads nothing for so long."""
        until = time.monotonic() + seconds
        while data:
            if not _ready(self._in, select.POLLOUT, until - time.monotonic()):
                raise TimeoutError("the command does not read its input")
            with contextlib.suppress(BlockingIOError):
                data = data[os.write(self._in, data) :]

    def receive(self, seconds: float) -> bytes | None:
        """Read the output of the command; None if there is none for so long."""
        data = os.read(self._out, 1 << 16) if _ready(self._out, select.POLLIN, seconds) else None
        self.heard = self.heard or bool(data)
        return data

    def finish(self) -> None:
        """Close the command's input."""
        if self._open:
            self._open = False
            assert self._process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()

    def close(self) -> None:
        """Kill the command."""
        _end(self._process)

    def ended(self) -> tuple[int | None, str]:
        """Return the exit status, if known, and the last line of standard error."""
        status, text = self.complaints()
        lines = text.strip().splitlines()
        return status, clean(lines[-1][-200:]) if lines else ""

    def complaints(self) -> tuple[int | None, str]:
        """Return the exit status, None if the command runs on after a second, and the end of its standard error."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        self._reader.join(1.0)
        return self._process.returncode, self._end_of_complaints.decode("utf-8", "replace")

    def _complain(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(self._process.stderr.fileno(), 1 << 16):
                self._end_of_complaints = (self._end_of_complaints + chunk)[-KEPT:]


def run(
    words: Sequence[str], script: str, limits: ShellLimits, allowance: Allowance, why: Callable[[Child], ShellReply],
    silent: ConnectStage = ConnectStage.SCRIPT,
) -> ShellReply:  # fmt: skip
    """Send a script to a command, and read the output of the command to the end.

    `silent` is the stage of a command that prints nothing until its deadline. `why` returns the reply for an output
    that ended before its limits. Raises OSError if the command cannot be started.
    """
    with Child(words, limits) as child:
        with contextlib.suppress(OSError):  # a command that reads no input has a reason, which `why` finds
            child.send(b"echo\n", limits.deadline)
        first = child.read(1 << 16)
        if first:  # the shell runs: a node that does not answer takes no memory
            with child.deadline.paused():
                refused = allowance.admit()
            if refused is not None:
                return ShellReply(b"", refused)
            allowance.until = time.monotonic() + limits.deadline
            with contextlib.suppress(OSError):
                child.send(stamped(script).encode(), limits.deadline)
        elif child.late:
            return ShellReply(b"", _cut(child, limits, Unknown(Reason.TIMEOUT)), silent)
        child.finish()
        raw, stopped = drain(child.read, limits.cap, allowance)
        raw = first.removesuffix(b"\n") + raw
        if isinstance(stopped, Unknown):
            return ShellReply(raw, stopped)
        if stopped == LARGE:
            return ShellReply(raw, Unknown(Reason.TOO_LARGE, f"more than {limits.cap} bytes"))
        if raw or child.late:
            return ShellReply(raw, _cut(child, limits, Unknown(Reason.NOT_COLLECTED, "the answer ended early")))
        return why(child)


def talk(
    words: Sequence[str], limits: ShellLimits, speak: Callable[[CommandStream], Unknown],
    silent: Callable[[Child, Unknown], ShellReply] = lambda _, why: ShellReply(b"", why),
) -> ShellReply:  # fmt: skip
    """Run a command, and call `speak` with its stream, which returns why the stream ended.

    `silent` returns the reply if the command ended without any output. Raises OSError if it cannot be started.
    """
    with Child(words, limits) as child:
        why = speak(child)
        return ShellReply(b"", _cut(child, limits, why)) if child.heard or child.late else silent(child, why)


def _ready(end: int, event: int, seconds: float) -> bool:
    """Wait until a pipe can be read or written; `select` would fail for file numbers above 1,023."""
    poll = select.poll()
    poll.register(end, event)
    return bool(poll.poll(max(0.0, seconds) * 1000))


def _cut(child: Child, limits: ShellLimits, why: Unknown) -> Unknown:
    return Unknown(Reason.TIMEOUT, f"not finished within {limits.deadline:g} s") if child.late else why


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill all process groups in the session of a command: each `timeout` of a script has its own process group."""
    own = {process.pid} if process.returncode is None else set[int]()  # the number of an ended process may be reused
    for group in {*own, *_groups(process.pid)}:
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
