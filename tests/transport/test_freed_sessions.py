"""When a visit by libssh2 has ended, however it ended, its session is freed before the socket is closed.

When libssh2 frees a session, it uses the number of the socket: it closes the channels that are open, and makes a socket
block that did so before (`session_free` in src/session.c). A session that is freed later would do this to whatever has
the number by then.
"""

import gc
import shlex
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import paramiko
import pytest
from sshd import Server, keygen, serving

from rackcheck.inventory import Node
from rackcheck.inventory.node import Ssh
from rackcheck.transport import libssh2, ssh_config
from rackcheck.transport.memory import Allowance
from rackcheck.transport.ssh_config import Target
from rackcheck.transport.ssh_connection import ProxySocket
from rackcheck.transport.wire import ConnectStage, ShellLimits

LIMITS = ShellLimits(connect=2, deadline=4)
RELAY = """
import os, socket, sys, threading
out = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
def back():
    while data := out.recv(65536): os.write(1, data)
    os._exit(0)
threading.Thread(target=back, daemon=True).start()
while data := os.read(0, 65536): out.sendall(data)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("node")) as found:
        yield found


def served(speak: Callable[[socket.socket], object]) -> int:
    """Return a port on which one connection is accepted."""
    listener = socket.create_server(("127.0.0.1", 0))

    def one() -> None:
        with listener, listener.accept()[0] as sock, suppress(OSError):
            speak(sock)

    threading.Thread(target=one, daemon=True).start()
    return int(listener.getsockname()[1])


def newest(sock: socket.socket, folder: Path) -> None:
    """Serve a key exchange that libssh2 does not have."""
    transport = paramiko.Transport(sock)
    transport.get_security_options().kex = ("mlkem768x25519-sha256",)
    transport.add_server_key(paramiko.Ed25519Key.from_private_key_file(str(keygen(folder / "host"))))
    with suppress(paramiko.SSHException, EOFError):
        transport.start_server(server=paramiko.ServerInterface())
    transport.join(5)


def target(server: Server, folder: Path, case: str) -> Target:
    """A target whose visit ends in the way that `case` names."""
    port, key = server.port, server.key
    known = server.known_hosts.read_text().partition(" ")[2]
    match case:
        case "no SSH":
            port = served(lambda sock: sock.sendall(b"SSH-2.0-noise\r\n" + bytes(range(256)) * 400))
        case "silence":
            port = served(lambda sock: sock.recv(1) and sock.recv(100) and threading.Event().wait(5))
        case "algorithms":
            port = served(lambda sock: newest(sock, folder))
        case "another host key":
            known = keygen(folder / "other").with_suffix(".pub").read_text()
        case "another user key":
            key = keygen(folder / "user")
    kind, public = known.split()[:2]
    (folder / "known").write_text(f"[127.0.0.1]:{port} {kind} {public}\n")
    given = Ssh(port=port, key=str(key), known_hosts=str(folder / "known"))
    return ssh_config.resolve(Node("n1", host="127.0.0.1", ssh=given), {})


def ended(to: Target) -> ConnectStage | None:
    """Visit a node, and return the stage in which the visit ended; None if libssh2 does not support the server."""
    try:
        return libssh2.run(to, "echo here\n", LIMITS, Allowance()).stage
    except libssh2.Unsupported:
        return None


def sessions() -> list[object]:
    """The sessions of libssh2 that are not freed; that which knows the algorithms has no socket."""
    kind = libssh2._library().session.Session
    return [each for each in gc.get_objects() if isinstance(each, kind) and each.sock is not None]


@pytest.mark.parametrize("through", ["directly", "through a command"])
@pytest.mark.parametrize(
    ("case", "stage"),
    [
        ("success", ConnectStage.SCRIPT), ("no SSH", ConnectStage.HANDSHAKE), ("silence", ConnectStage.HANDSHAKE),
        ("algorithms", None), ("another host key", ConnectStage.KEY),
        ("another user key", ConnectStage.LOGIN),
    ],
)  # fmt: skip
def test_no_session_is_left_that_could_touch_the_socket_of_another(
    server: Server, tmp_path: Path, case: str, stage: ConnectStage | None, through: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    when_closed: list[object] = []
    close = ProxySocket.close

    def watched(sock: ProxySocket) -> None:
        when_closed.extend(sessions())
        close(sock)

    monkeypatch.setattr(ProxySocket, "close", watched)
    to = target(server, tmp_path, case)
    assert libssh2.is_usable(to)
    if through == "through a command":
        to = replace(to, proxy=shlex.join([sys.executable, "-c", RELAY, str(to.port)]))
    gc.collect()
    gc.disable()
    try:
        found = ended(to)
        left = sessions()
    finally:
        gc.enable()
    assert found is stage
    assert left == when_closed == []
