"""Worker processes that read stored replies: a thread for each of them sends tasks and waits for results.

A worker that dies or hangs costs its task one more try, in a new process. Workers that cannot be started, and replies
that a worker cannot read, are no reason to leave anything unread: the caller reads these replies itself, and reports
the errors that this gives.
"""

import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType
from typing import Any, Self

from rackcheck.base import program
from rackcheck.run.reading_worker import FAILED, HEAD, PLAN, SECONDS
from rackcheck.run.worker_forms import NONE, ReceivedFacts, Returned, packed, unpacked

START = 60.0
"""Maximum seconds until a new worker is ready; on an idle machine it takes less than one."""

LEAVE = 3.0
"""Maximum seconds until a worker that has closed its pipe has ended."""

LARGEST = 1 << 30
"""Maximum size of a result, in bytes."""

PASSED = (
    *("HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "RACKCHECK_HOME", "RACKCHECK_PROBE_INDEX", "RACKCHECK_PROGRAM_CACHE"),
    *("TMPDIR", "TZ"),
)
"""The environment variables of a worker, and those that begin with LC_ or XDG_; others may hold secrets."""


@dataclass(frozen=True)
class Lost:
    """Two workers ended or hung while they read these replies; `why` says how the second one ended."""

    why: str


class Here(Enum):
    """The replies must be read by the caller."""

    READ_HERE = "read here"


Result = Returned | Lost | Here
"""What became of a task."""


class Ended(Exception):
    """A worker ended before it returned a result, or was killed because it returned none in time."""


@dataclass
class _Task:
    plan: Mapping[str, Any]
    doc: Mapping[str, Any]
    result: "Future[Result]" = field(default_factory=Future)


class Worker:
    """One worker process."""

    def __init__(self, words: Sequence[str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603  this program, without a shell
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
            env=environment(), start_new_session=True,
        )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._plans: list[Mapping[str, Any]] = []
        self._received = ReceivedFacts()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def ready(self) -> bool:
        """Wait until the worker is ready; False if it runs another program, which may read other facts.

        Raises Ended.
        """
        _, _, data = self._receive(time.monotonic() + START)
        return bool(unpacked(data)["program"] == program.digest() != "")

    def read(self, plan: Mapping[str, Any], doc: Mapping[str, Any], seconds: float) -> Result:
        """Return the result of a task; raises Ended."""
        place = next((at for at, known in enumerate(self._plans) if known is plan), None)
        if place is None:
            place = len(self._plans)
            self._plans.append(plan)
            self._send(PLAN, packed(plan))
        self._send(place, packed(doc))
        base, own, data = self._receive(time.monotonic() + seconds)
        return Here.READ_HERE if base == FAILED else self._received.returned(base, own, data)

    def _send(self, number: int, data: bytes) -> None:
        rest = memoryview(HEAD.pack(len(data), number, NONE) + data)
        try:
            while rest:
                rest = rest[os.write(self._in, rest) :]
        except OSError:
            raise Ended(self._how()) from None

    def _receive(self, until: float) -> tuple[int, int, bytes]:
        size, base, own = HEAD.unpack(self._exactly(HEAD.size, until))
        if size > LARGEST:
            raise Ended(f"a result of {size} bytes")
        return base, own, self._exactly(size, until)

    def _exactly(self, size: int, until: float) -> bytes:
        parts = []
        waiting = select.poll()
        waiting.register(self._out, select.POLLIN)
        while size:
            if not waiting.poll(max(0.0, until - time.monotonic()) * 1000):
                raise Ended("no result in time")
            part = os.read(self._out, min(size, 1 << 20))
            if not part:
                raise Ended(self._how())
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _how(self) -> str:
        """Return how the process ended; it has closed its pipe, so it ends now."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LEAVE)
        self.kill()
        code = self._process.wait()
        return f"exit code {code}" if code >= 0 else f"killed by {_signal(-code)}"

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()

    def close(self) -> None:
        """End the process, and remove what is left of it."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def command() -> list[str]:
    """Return the command of a worker; it imports modules from the same folders as this process, and no others."""
    folders = [os.path.abspath(each) for each in sys.path]  # noqa: PTH100  an empty text is the current folder
    code = f"import sys; sys.path[:] = {folders!r}; from rackcheck.run.reading_worker import main; main()"
    flags = ["-B"] * sys.flags.dont_write_bytecode + ["-O"] * sys.flags.optimize
    return [sys.executable, "-I", *flags, "-c", code]


def environment() -> dict[str, str]:
    """Return the environment of a worker."""
    return {name: text for name, text in os.environ.items() if name in PASSED or name.startswith(("LC_", "XDG_"))}


class ReadingPool:
    """A number of workers, which start when there are tasks for them; `close` ends them all.

    `seconds` is the maximum time for a task, `words` the command of a worker if it is another one than `command`.
    """

    def __init__(self, count: int, seconds: float = SECONDS, words: Sequence[str] = ()) -> None:
        self._seconds, self._words = seconds, words or command()
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._workers: list[Worker] = []
        self._closed = self._unfit = False
        self._threads = [threading.Thread(target=self._serve, daemon=True, name=f"read-{n}") for n in range(count)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pids(self) -> list[int]:
        """The ids of the worker processes."""
        with self._lock:
            return [worker.pid for worker in self._workers]

    def submit(self, plan: Mapping[str, Any], doc: Mapping[str, Any]) -> "Future[Result]":
        """Return the future result of a task; the same plan should be the same object."""
        task = _Task(plan, doc)
        self._tasks.put(task)
        return task.result

    def close(self) -> None:
        """End all workers; tasks without a result get READ_HERE."""
        with self._lock:
            self._closed = True
            for worker in self._workers:
                worker.kill()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        worker: Worker | None = None
        while (task := self._tasks.get()) is not None:
            try:
                worker = self._do(task, worker)
            except Exception:  # noqa: BLE001  whatever it is, the caller must not wait forever
                task.result.set_result(Here.READ_HERE)
        if worker is not None:
            self._end(worker)

    def _do(self, task: _Task, worker: Worker | None) -> Worker | None:
        """Give a task its result, and return the worker for the next task."""
        why = ""
        for _ in range(2):
            worker = worker or self._started()
            if worker is None:  # replies that have ended a worker are not read by the caller, whom they may end, too
                task.result.set_result(Lost(why) if why and not self._closed else Here.READ_HERE)
                return None
            try:
                found = worker.read(task.plan, task.doc, self._seconds)
            except (Ended, ValueError, KeyError) as error:  # the last two if the worker returned nonsense
                why = str(error) if isinstance(error, Ended) else "a damaged result"
                self._end(worker)
                worker = None
            else:
                task.result.set_result(found)
                return worker
        task.result.set_result(Here.READ_HERE if self._closed else Lost(why))
        return None

    def _started(self) -> Worker | None:
        """Return a new worker that is ready; None if there is none, and then also later."""
        for _ in range(2):
            with self._lock:
                if self._closed or self._unfit:
                    return None
                try:
                    worker = Worker(self._words)
                except OSError:
                    self._unfit = True
                    return None
                self._workers.append(worker)
            try:
                if worker.ready():
                    return worker
            except (Ended, ValueError, KeyError, TypeError):
                pass
            self._end(worker)
        self._unfit = True
        return None

    def _end(self, worker: Worker) -> None:
        worker.close()
        with self._lock:
            self._workers.remove(worker)
