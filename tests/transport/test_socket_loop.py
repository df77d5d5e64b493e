"""One thread continues all connections: their results, errors and time limits, and what an interrupt leaves behind."""

import math
import socket
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from typing import NoReturn

import pytest

from rackcheck.transport.socket_loop import READ, WRITE, SocketLoop, Wait

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Two connected sockets: ours, which does not block, and that of a server."""
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        ours.setblocking(False)
        yield ours, theirs


def line(sock: socket.socket, until: float = math.inf) -> Generator[Wait, None, bytes]:
    """Read until the end of a line."""
    data = b""
    while not data.endswith(b"\n"):
        try:
            data += sock.recv(1)
        except BlockingIOError:
            yield READ, until
    return data


def fails(sock: socket.socket) -> Generator[Wait, None, NoReturn]:
    yield WRITE, math.inf
    raise ValueError(sock.fileno())


def threads(name: str = "sockets") -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == name]


def test_steps_return_their_result_when_the_data_arrive_in_parts(pair: Pair) -> None:
    ours, theirs = pair
    timer = threading.Timer(0.1, theirs.sendall, [b"lo\n"])
    theirs.sendall(b"hel")
    timer.start()
    assert SocketLoop().run(ours, line(ours)) == b"hello\n"


def test_a_hundred_connections_wait_in_one_thread() -> None:
    loop, found, before = SocketLoop(), dict[int, bytes](), len(threads())
    with ExitStack() as opened:
        pairs = [socket.socketpair() for _ in range(100)]
        for ours, theirs in pairs:
            opened.enter_context(closing(ours))
            opened.enter_context(closing(theirs))
            ours.setblocking(False)

        def ask(number: int) -> None:
            found[number] = loop.run(pairs[number][0], line(pairs[number][0]))

        asking = [threading.Thread(target=ask, args=(number,)) for number in range(100)]
        for thread in asking:
            thread.start()
        assert len(threads()) <= before + 1
        for number in reversed(range(100)):
            pairs[number][1].sendall(f"{number}\n".encode())
        for thread in asking:
            thread.join(10)
    assert found == {number: f"{number}\n".encode() for number in range(100)}


def test_an_error_is_raised_by_run_and_other_connections_go_on(pair: Pair) -> None:
    ours, theirs = pair
    loop = SocketLoop()
    with pytest.raises(ValueError, match=str(ours.fileno())):
        loop.run(ours, fails(ours))
    theirs.sendall(b"still here\n")
    assert loop.run(ours, line(ours)) == b"still here\n"


def test_a_socket_that_was_closed_costs_its_own_connection_only(pair: Pair) -> None:
    ours, theirs = pair
    loop, (lost, other) = SocketLoop(), socket.socketpair()
    lost.setblocking(False)

    def closes() -> Generator[Wait, None, None]:
        yield READ, math.inf
        lost.close()
        yield READ | WRITE, math.inf

    with closing(other):
        other.sendall(b"x")
        with pytest.raises((OSError, ValueError, KeyError)):
            loop.run(lost, closes())
    theirs.sendall(b"still here\n")
    assert loop.run(ours, line(ours)) == b"still here\n"


def test_a_time_limit_raises_a_timeout_and_a_later_one_does_not_count_any_more(pair: Pair) -> None:
    ours, theirs = pair
    loop = SocketLoop()
    with pytest.raises(TimeoutError):
        loop.run(ours, line(ours, time.monotonic() + 0.05))
    theirs.sendall(b"in time\n")
    assert loop.run(ours, line(ours, time.monotonic() + 0.2)) == b"in time\n"
    time.sleep(0.3)  # the limit of steps that have ended passes
    theirs.sendall(b"again\n")
    assert loop.run(ours, line(ours)) == b"again\n"


def test_a_socket_that_is_shut_down_ends_the_wait(pair: Pair) -> None:
    ours, _ = pair

    def read() -> Generator[Wait, None, bytes]:
        while True:
            try:
                return ours.recv(1)
            except BlockingIOError:
                yield READ, math.inf

    threading.Timer(0.1, ours.shutdown, [socket.SHUT_RDWR]).start()
    assert SocketLoop().run(ours, read()) == b""


class Interrupted(BaseException):
    """Raised in a waiting thread as an interrupt is."""


def test_after_an_interrupt_the_loop_never_uses_the_connection_again(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller frees what the steps use, so that `run` must not end before the loop is done with them."""
    ours, theirs = pair
    loop, closed = SocketLoop(), threading.Event()
    wait, waits = threading.Event.wait, iter([True])

    def interrupted(self: threading.Event, timeout: float | None = None) -> bool:
        if next(waits, False):
            wait(self, 0.1)
            raise Interrupted
        return wait(self, timeout)

    def steps() -> Generator[Wait, None, bytes]:
        try:
            return (yield from line(ours))
        finally:
            closed.set()

    theirs.sendall(b"first\n")
    loop.run(ours, line(ours))  # its thread has started
    monkeypatch.setattr(threading.Event, "wait", interrupted)
    with pytest.raises(Interrupted):
        loop.run(ours, steps())
    assert closed.is_set()
    theirs.sendall(b"not read\n")
    assert loop.run(ours, line(ours)) == b"not read\n"
