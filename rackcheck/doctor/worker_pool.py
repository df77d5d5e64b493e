"""A small thread pool with a deadline per job: a job that exceeds its deadline is abandoned."""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from rackcheck.run.limited_queue import LimitedQueue, Limits

J = TypeVar("J")
R = TypeVar("R")

GOODBYE = 3.0
"""Seconds that running jobs have to end after an interrupt, for example to close a BMC's session."""

POLL = 0.1
"""Seconds between two checks of the clock."""


class _Todo(Generic[J]):
    """The jobs that have not begun, by their numbers; safe for use by several threads."""

    def __init__(self, jobs: Sequence[J], limits: Callable[[J], Limits]) -> None:
        self._left = LimitedQueue[int](lambda index: limits(jobs[index]))
        for index in range(len(jobs)):
            self._left.add(index)
        self._changed = threading.Condition()

    def take(self, stop: threading.Event) -> int | None:
        """Wait for a job that may begin, and return its number; None if there is none left, or after an interrupt."""
        with self._changed:
            while self._left and not stop.is_set():
                if (index := self._left.take()) is not None:
                    return index
                self._changed.wait(POLL)
            return None

    def over(self, index: int) -> None:
        """Record that a job has ended, or was abandoned."""
        with self._changed:
            self._left.done(index)
            self._changed.notify()


def work(
    jobs: Iterable[J],
    do: Callable[[J], R],
    *,
    threads: int,
    seconds: float,
    stop: threading.Event,
    limits: Callable[[J], Limits] = lambda _: (),
) -> Iterator[tuple[J, R | Exception | None]]:
    """Run every job; yield each job when it ends, with its result, its exception, or None if its deadline has passed.

    A job for which `limits` leaves no room waits, and its deadline begins when it does. A hanging thread (a resolver's
    call cannot be interrupted) is abandoned, and a new thread replaces it. If the iterator is closed before its end,
    also by an interrupt, `stop` is set: no further job starts, and running jobs may finish.
    """
    listed = list(jobs)
    todo = _Todo(listed, limits)
    done: queue.SimpleQueue[tuple[int, R | Exception]] = queue.SimpleQueue()
    begun: dict[int, float] = {}

    def worker() -> None:
        while (index := todo.take(stop)) is not None:
            begun[index] = time.monotonic()
            try:
                result: R | Exception = do(listed[index])
            except Exception as error:  # noqa: BLE001  a job's exception is its result
                result = error
            done.put((index, result))

    crew: list[threading.Thread] = []

    def start() -> None:
        crew.append(threading.Thread(target=worker, daemon=True, name="doctor"))
        crew[-1].start()

    for _ in range(min(threads, len(listed))):
        start()
    open_jobs = set(range(len(listed)))
    try:
        while open_jobs and not stop.is_set():
            try:
                index, result = done.get(timeout=POLL)
            except queue.Empty:
                late = [i for i, since in list(begun.items()) if i in open_jobs and time.monotonic() - since > seconds]
                for index in late:
                    open_jobs.discard(index)
                    todo.over(index)
                    start()
                    yield listed[index], None
                continue
            if index in open_jobs:
                open_jobs.discard(index)
                todo.over(index)
                yield listed[index], result
    finally:
        if open_jobs:
            stop.set()
            until = time.monotonic() + GOODBYE
            for thread in crew:
                thread.join(max(0.0, until - time.monotonic()))
