"""One thread continues all connections: their results, errors and time limits, and what an interrupt leaves behind."""

import math
import signal
import socket
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from typing import NoReturn

import depth
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


@pytest.fixture
def alarm() -> Iterator[None]:
    """SIGALRM raises Interrupted in this thread, which must be the main one, as Ctrl-C does."""

    def interrupt(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("alarm")
def test_after_an_interrupt_the_loop_never_uses_the_connection_again(pair: Pair) -> None:
    """The caller frees what the steps use, so that `run` must not end before the loop is done with them."""
    ours, theirs = pair
    loop, closed = SocketLoop(), threading.Event()

    def steps() -> Generator[Wait, None, bytes]:
        try:
            return (yield from line(ours))
        finally:
            closed.set()

    theirs.sendall(b"first\n")
    loop.run(ours, line(ours))  # its thread has started
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    with pytest.raises(Interrupted):
        loop.run(ours, steps())
    assert closed.is_set()
    theirs.sendall(b"not read\n")
    assert loop.run(ours, line(ours)) == b"not read\n"


@pytest.mark.usefixtures("alarm")
def test_an_interrupt_at_any_moment_leaves_nothing_that_waits(pair: Pair) -> None:
    """Also one that comes just when the steps have ended: there is nothing more to wait for then."""
    ours, theirs = pair
    loop, interrupts, tries = SocketLoop(), 0, depth.examples(1500, 20_000)
    theirs.sendall(b"first\n")
    loop.run(ours, line(ours))
    for number in range(tries):
        seen: list[str] = []

        def steps(seen: list[str] = seen) -> Generator[Wait, None, int]:
            seen.append("began")
            try:
                yield WRITE, math.inf
                return 1
            finally:
                seen.append("ended")

        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-6 + number % 150 * 1e-6)
            assert loop.run(ours, steps()) == 1
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Interrupted:
            interrupts += 1
            assert seen in ([], ["began", "ended"]), "the caller frees what the steps use"
    assert 0 < interrupts < tries
    theirs.sendall(b"still here\n")
    assert loop.run(ours, line(ours)) == b"still here\n"
