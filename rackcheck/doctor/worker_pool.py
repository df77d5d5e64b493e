"""A small thread pool with a deadline per job: a job that exceeds its deadline is abandoned."""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

J = TypeVar("J")
R = TypeVar("R")

GOODBYE = 3.0
"""Seconds that running jobs have to end after an interrupt, for example to close a BMC's session."""

POLL = 0.1
"""Seconds between two checks of the clock."""


def work(
    jobs: Iterable[J], do: Callable[[J], R], *, threads: int, seconds: float, stop: threading.Event
) -> Iterator[tuple[J, R | Exception | None]]:
    """Run every job; yield each job when it ends, with its result, its exception, or None if its deadline has passed.

    A hanging thread (a resolver's call cannot be interrupted) is abandoned, and a new thread replaces it. If the
    iterator is closed before its end, also by an interrupt, `stop` is set: no further job starts, and running jobs may
    finish.
    """
    listed = list(jobs)
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    for index in range(len(listed)):
        todo.put(index)
    done: queue.SimpleQueue[tuple[int, R | Exception]] = queue.SimpleQueue()
    begun: dict[int, float] = {}

    def worker() -> None:
        while not stop.is_set():
            try:
                index = todo.get_nowait()
            except queue.Empty:
                return
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
                    start()
                    yield listed[index], None
                continue
            if index in open_jobs:
                open_jobs.discard(index)
                yield listed[index], result
    finally:
        if open_jobs:
            stop.set()
            until = time.monotonic() + GOODBYE
            for thread in crew:
                thread.join(max(0.0, until - time.monotonic()))
