"""Runs shards as processes of this machine."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import IO

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import clean
from rackcheck.shard.engines.contract import Carried, Load

POLL = 0.1
"""Seconds between two looks at the processes."""

GOODBYE = 10.0
"""Seconds after an interrupt until a process is killed: it closes the sessions of its BMCs."""


class LocalEngine:
    """Runs several shards at the same time, by default one for each CPU; a process that dies is started again."""

    def __init__(self, count: int | None = None) -> None:
        self.count = count or os.cpu_count() or 1

    def carry(self, loads: Sequence[Load], stop: threading.Event) -> Iterator[Carried]:
        """Run all shards; see `Engine`."""
        if any(load.inband for load in loads):
            raise UserError("local: shards by node run on the nodes themselves: use slurm or dask, or --by COUNT")
        todo = deque((load, 1) for load in loads)
        running: list[_Process] = []
        try:
            while (todo or running) and not stop.is_set():
                while todo and len(running) < self.count:
                    running.append(_Process(*todo.popleft()))
                for each in [each for each in running if each.process.poll() is not None]:
                    running.remove(each)
                    ended = each.ended()
                    if not ended.last:
                        todo.append((each.load, each.attempt + 1))
                    yield ended
                stop.wait(POLL)
        finally:
            for each in running:
                each.process.terminate()
            until = time.monotonic() + GOODBYE
            for each in running:
                each.end(until)


class _Process:
    """An attempt to run a shard."""

    def __init__(self, load: Load, attempt: int) -> None:
        self.load, self.attempt = load, attempt
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  it is read when the process has ended
        self.process = subprocess.Popen(  # noqa: S603  our own program
            words(load), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._errors,
        )  # fmt: skip

    def ended(self) -> Carried:
        """Return the end of the attempt."""
        if self.process.returncode == 0 and self.load.result.exists():
            self._errors.close()
            return Carried(self.load)
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        self._errors.close()
        status = self.process.returncode
        what = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        # A usage error, for example a damaged shard or an unknown secret, is the same in every attempt.
        last = self.attempt >= self.load.attempts or status == 2
        return Carried(self.load, f"{what}{f': {clean(lines[-1], 200)}' if lines else ''}", last)

    def end(self, until: float) -> None:
        """Wait for a process that was asked to end, and kill it at a time of the monotonic clock."""
        try:
            self.process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._errors.close()


def words(load: Load) -> list[str]:
    """Return the command that runs a shard."""
    return [sys.executable, "-m", "rackcheck", "run-shard", str(load.file), "-o", str(load.result), "-q"]
