"""Listening sockets of simulated machines: one thread accepts connections, and each connection has its own thread."""

import contextlib
import errno
import selectors
import socket
import threading
from collections.abc import Callable

from rackcheck.base.user_error import UserError

Welcome = Callable[[socket.socket], None]
"""A function that serves one connection; the socket is closed when the function returns."""

NETS = range(77, 127)
"""The loopback networks that simulated racks may use: N in 127.N.0.0/16; each running rack uses one network."""


PORTS = {"ssh": 2222, "https": 8443}
"""Ports on which machines listen, if each machine has its own address."""


class Doors:
    """All listening sockets of a rack."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._over = threading.Event()
        self._wake, self._woken = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._open: list[socket.socket] = []
        self._visitors: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="doors")
        self._thread.start()

    def open(self, place: tuple[str, int], welcome: Welcome) -> tuple[str, int]:
        """Listen on an address, and return the actual address; for port 0, a free port is used.

        Raises OSError if the address is in use.
        """
        return self._watched(socket.create_server(place, backlog=128), welcome)

    def claim(self, place: tuple[str, int]) -> None:
        """Reserve an address; connections to it are closed immediately. Raises OSError if the address is in use.

        SO_REUSEADDR is not set: with this option, two racks that bind the address at the same moment might both fail.
        """
        door = socket.socket()
        try:
            door.bind(place)
            door.listen()
        except OSError:
            door.close()
            raise
        self._watched(door, lambda _: None)

    def _watched(self, door: socket.socket, welcome: Welcome) -> tuple[str, int]:
        door.setblocking(False)
        with self._lock:
            self._open.append(door)
            self._selector.register(door, selectors.EVENT_READ, welcome)
        self._wake.send(b".")
        host, port = door.getsockname()[:2]
        return str(host), int(port)

    def close(self) -> None:
        """Close every listening socket and every connection."""
        self._over.set()
        self._wake.send(b".")
        self._thread.join(5)
        with self._lock:
            for line in (*self._open, *self._visitors, self._wake, self._woken):
                with contextlib.suppress(OSError):
                    line.close()
            self._selector.close()

    def _watch(self) -> None:
        while not self._over.is_set():
            for key, _ in self._selector.select(timeout=1):
                if key.fileobj is self._woken:
                    self._woken.recv(64)
                elif isinstance(key.fileobj, socket.socket):
                    self._let_in(key.fileobj, key.data)

    def _let_in(self, door: socket.socket, welcome: Welcome) -> None:
        try:
            visitor, _ = door.accept()
        except OSError:  # the client is gone, or no descriptor is free: the next accept may succeed
            self._over.wait(0.01)
            return
        visitor.setblocking(True)
        visitor.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self._serve, args=(visitor, welcome), daemon=True, name="visitor").start()

    def _serve(self, visitor: socket.socket, welcome: Welcome) -> None:
        with self._lock:
            self._visitors.add(visitor)
        try:
            with contextlib.suppress(OSError):
                welcome(visitor)
        finally:
            with self._lock:
                self._visitors.discard(visitor)
            visitor.close()


class Addresses:
    """The loopback addresses of the machines of a rack.

    On a system with all of 127.0.0.0/8, each machine has its own addresses.

    On a system with only 127.0.0.1, such as macOS, each machine has its own ports on 127.0.0.1.
    """

    def __init__(self, doors: Doors) -> None:
        self._doors = doors
        self._net = self._claim()

    def open(self, service: str, number: int, welcome: Welcome) -> tuple[str, int]:
        """Listen on the address of machine `number` (from 1) for `ssh` or `https`; return the address."""
        host, port = self.nowhere(service, number)
        try:
            return self._doors.open((host, port), welcome)
        except OSError as error:
            more = "; raise `ulimit -n`" if error.errno == errno.EMFILE else ""
            raise UserError(
                f"cannot listen at {host} port {port} for machine {number}: {error.strerror}{more}"
            ) from None

    def nowhere(self, service: str, number: int) -> tuple[str, int]:
        """Return the address of a machine; a connection to it is refused until `open` is called."""
        if self._net is None:
            return "127.0.0.1", 0
        high, low = divmod(number, 250)
        return f"127.{self._net}.{high + (128 if service == 'https' else 0)}.{low + 1}", PORTS[service]

    def _claim(self) -> int | None:
        """Reserve a free loopback network by binding an address in it; None if the system has only 127.0.0.1."""
        for net in NETS:
            try:
                self._doors.claim((f"127.{net}.0.1", PORTS["ssh"]))
            except OSError as error:
                if error.errno == errno.EADDRNOTAVAIL:
                    return None
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                return net
        raise UserError(f"every loopback network from 127.{NETS[0]} to 127.{NETS[-1]} is in use: stop a running rack")
