"""A proxy that cuts, or stops, a connection after a number of bytes."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def cutting_proxy(port: int, after: int, *, stall: bool = False) -> Iterator[int]:
    """Forward to a server, and cut the connection once it has sent this many bytes; with `stall`, forward no more."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(4)

    def pump(source: socket.socket, target: socket.socket, budget: float) -> None:
        try:
            while budget > 0 and (chunk := source.recv(min(4096, int(min(budget, 4096))))):
                target.sendall(chunk)
                budget -= len(chunk)
        except OSError:
            pass
        if stall:
            return
        for sock in (source, target):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def serve() -> None:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        upstream = socket.create_connection(("127.0.0.1", port))
        threading.Thread(target=pump, args=(client, upstream, float("inf")), daemon=True).start()
        pump(upstream, client, after)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        listener.close()
