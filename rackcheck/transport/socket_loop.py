"""One thread that waits for the sockets of many connections, and continues each connection when its socket is ready.

If each connection has a thread that waits for its socket, these threads take the interpreter lock from one another
hundreds of times for each host, which costs more CPU time than the SSH protocol.
"""

import heapq
import itertools
import math
import selectors
import socket
import threading
import time
import traceback
from collections import deque
from collections.abc import Generator
from contextlib import suppress
from typing import Any, TypeVar

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE

Wait = tuple[int, float]
"""What a connection waits for: READ, WRITE or both, until a time of the monotonic clock."""

T = TypeVar("T")


class _Task:
    """The steps of a connection, and what they wait for.

    `ended` is a lock that is held until the steps are over: an event takes several locks, for each connection.
    """

    def __init__(self, sock: socket.socket, steps: Generator[Wait, None, Any]) -> None:
        self.number, self.steps = sock.fileno(), steps
        self.events, self.until = 0, math.inf
        self.result: Any = None
        self.error: BaseException | None = None
        self.is_abandoned = self.is_over = False
        self.ended = threading.Lock()
        self.ended.acquire()


class SocketLoop:
    """Runs the steps of connections in one thread, which starts with the first one; safe for use by several threads."""

    def __init__(self) -> None:
        self._posted: deque[_Task] = deque()
        self._due: list[tuple[float, int, _Task]] = []
        self._numbers = itertools.count()
        self._starting = threading.Lock()
        self._selector: selectors.BaseSelector | None = None

    def run(self, sock: socket.socket, steps: Generator[Wait, None, T]) -> T:
        """Run steps to their end, and return what they return; called by another thread than that of the loop.

        The steps yield what they wait for, and wait for nothing else. TimeoutError is raised within them if it does not
        happen in time. The exception of steps that fail is raised here, and holds nothing of what they used. Nobody
        else uses the socket meanwhile, except to shut it down.
        """
        self._start()
        task = _Task(sock, steps)
        try:
            self._post(task)
            task.ended.acquire()
        except BaseException:  # an interrupt: the caller frees what the steps use
            task.is_abandoned = True
            if not task.is_over:  # it may come when the lock has just been taken
                self._post(task)
                task.ended.acquire()
            raise
        if task.error is not None:
            try:
                raise task.error
            finally:
                task.error = None  # the loop may hold the task until its time has passed
        result: T = task.result
        return result

    def _start(self) -> None:
        with self._starting:
            if self._selector is None:
                alarm, self._bell = socket.socketpair()
                alarm.setblocking(False)
                self._bell.setblocking(False)
                self._selector = selectors.DefaultSelector()
                self._selector.register(alarm, READ)
                threading.Thread(target=self._run, args=(self._selector, alarm), daemon=True, name="sockets").start()

    def _post(self, task: _Task) -> None:
        self._posted.append(task)
        with suppress(BlockingIOError):  # the loop has not yet read earlier bytes
            self._bell.send(b"\0")

    def _run(self, selector: selectors.BaseSelector, alarm: socket.socket) -> None:
        while True:
            left = max(0.0, self._due[0][0] - time.monotonic()) if self._due else None
            for key, _ in selector.select(left):
                if key.data is None:
                    alarm.recv(4096)
                    while self._posted:
                        self._step(selector, self._posted.popleft())
                else:
                    self._step(selector, key.data)
            now = time.monotonic()
            while self._due and self._due[0][0] <= now:
                until, _, task = heapq.heappop(self._due)
                if task.until == until:
                    self._step(selector, task, is_late=True)

    def _step(self, selector: selectors.BaseSelector, task: _Task, *, is_late: bool = False) -> None:
        if task.is_over:
            return
        if not task.is_abandoned:
            try:
                self._continue(selector, task, is_late=is_late)
            except StopIteration as end:
                task.result = end.value
            except Exception as failure:  # noqa: BLE001  it is raised in the thread that called `run`
                task.error = failure
                _clear(failure)
            else:
                return
        if task.events:
            selector.unregister(task.number)
        task.steps.close()
        task.until = math.inf
        task.is_over = True
        task.ended.release()

    def _continue(self, selector: selectors.BaseSelector, task: _Task, *, is_late: bool) -> None:
        events, until = task.steps.throw(TimeoutError) if is_late else next(task.steps)
        if events != task.events:
            change = selector.modify if task.events else selector.register
            task.events = 0  # a selector that fails forgets the socket
            change(task.number, events, task)
            task.events = events
        if until != task.until:
            task.until = until
            if until < math.inf:
                heapq.heappush(self._due, (until, next(self._numbers), task))


def _clear(error: BaseException | None) -> None:
    """Free what steps that have failed used, and what their error would hold until it is dropped itself."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__
