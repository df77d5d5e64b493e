"""Connections that end, stall or flood: each way over SSH gives the reason, in time, and never a whole answer."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import paramiko
import pytest
from cutting_proxy import cutting_proxy
from sshd import Server, keygen, serving

from rackcheck.inventory import Node
from rackcheck.inventory.node import Ssh
from rackcheck.model.fact import Reason
from rackcheck.model.secret_filter import Hiding
from rackcheck.transport import libssh2, openssh, ssh, ssh_config
from rackcheck.transport.memory import Allowance
from rackcheck.transport.presented import host_keys
from rackcheck.transport.ssh_config import Target
from rackcheck.transport.ssh_login import log_in
from rackcheck.transport.wire import ConnectStage, ShellLimits, ShellReply

LIMITS = ShellLimits(connect=2, deadline=4)
SCRIPT = "head -c 60000 /dev/zero | tr '\\0' x; echo END\n"

Way = Callable[[Target, str, ShellLimits], ShellReply]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("node")) as found:
        yield found


@pytest.fixture(params=["paramiko", "libssh2", "OpenSSH"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Way:
    if request.param == "OpenSSH":
        return openssh.run
    monkeypatch.setenv(libssh2.CHOICE, request.param)

    def run(target: Target, script: str, limits: ShellLimits) -> ShellReply:
        assert libssh2.is_usable(target) is (request.param == "libssh2")
        return ssh.run(target, script, limits)

    return run


def target(server: Server, folder: Path, port: int, key: Path | None = None) -> Target:
    """The server behind another port, with its own host key or another one."""
    kind, public = (
        key.with_suffix(".pub").read_text() if key else server.known_hosts.read_text().partition(" ")[2]
    ).split()[:2]
    (folder / "known").write_text(f"[127.0.0.1]:{port} {kind} {public}\n")
    given = Ssh(port=port, key=str(server.key), known_hosts=str(folder / "known"))
    return ssh_config.resolve(Node("n1", host="127.0.0.1", ssh=given), {})


@contextmanager
def talking(speak: Callable[[socket.socket], None]) -> Iterator[int]:
    """A port that accepts connections, and does something with each."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(8)

    def one(sock: socket.socket) -> None:
        with sock, suppress(OSError):
            speak(sock)

    def serve() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        listener.close()


def silent(sock: socket.socket) -> None:
    time.sleep(30)


def banner_without_end(sock: socket.socket) -> None:
    for _ in range(300):
        sock.sendall(b"x" * 20 + b"\r\n")
        time.sleep(0.1)


def noise(sock: socket.socket) -> None:
    sock.sendall(b"SSH-2.0-noise\r\n" + bytes(range(256)) * 400)


def gone(sock: socket.socket) -> None:
    sock.close()


@pytest.mark.parametrize(
    ("speak", "reasons"),
    [
        (silent, {Reason.TIMEOUT}), (banner_without_end, {Reason.TIMEOUT, Reason.UNREACHABLE}),
        (noise, {Reason.UNREACHABLE, Reason.TIMEOUT}), (gone, {Reason.UNREACHABLE, Reason.TIMEOUT}),
    ],
)  # fmt: skip
def test_a_port_that_is_no_ssh_server_costs_no_more_than_the_deadline(
    way: Way, server: Server, tmp_path: Path, speak: Callable[[socket.socket], None], reasons: set[Reason]
) -> None:
    with talking(speak) as port:
        began = time.monotonic()
        reply = way(target(server, tmp_path, port), SCRIPT, LIMITS)
        took = time.monotonic() - began
    assert (reply.raw, reply.stage) == (b"", ConnectStage.HANDSHAKE)
    assert reply.cut.reason in reasons, reply.cut
    assert took < LIMITS.deadline + 4


def test_the_keys_of_a_silent_port_are_read_once_and_not_for_each_kind(server: Server, tmp_path: Path) -> None:
    seen: list[socket.socket] = []

    def counted(sock: socket.socket) -> None:
        seen.append(sock)
        silent(sock)

    with talking(counted) as port, pytest.raises(OSError, match=r".+"):
        list(host_keys(target(server, tmp_path, port), LIMITS))
    assert len(seen) == 1


def test_a_connection_that_ends_before_a_login_is_answered_is_no_refusal(
    way: Way, server: Server, tmp_path: Path
) -> None:
    """The bytes are few enough for the handshake, and too many for the whole of it and the login."""
    stages = set()
    for after in range(1_700, 2_700, 60):
        with cutting_proxy(server.port, after) as port:
            reply = way(target(server, tmp_path, port), "echo END\n", LIMITS)
        assert reply.cut.reason in {Reason.UNREACHABLE, Reason.TIMEOUT, Reason.NOT_COLLECTED}, (after, reply.cut)
        assert "EOFError" not in reply.cut.detail
        stages.add(reply.stage)
    assert len(stages) > 1 or way is openssh.run  # `ssh` does not report the stage of a connection that ends


def test_a_login_on_a_connection_that_has_ended_is_no_refusal(server: Server, tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(EOFError):
        log_in(paramiko.Transport(ours), target(server, tmp_path, 1), Hiding(""))


def test_a_key_that_is_trusted_between_two_connections_is_known_to_the_second(
    way: Way, server: Server, tmp_path: Path
) -> None:
    known = target(server, tmp_path, server.port)
    before = (tmp_path / "known").read_text()
    (tmp_path / "known").write_text("")
    assert way(known, SCRIPT, LIMITS).cut.reason is Reason.HOST_KEY_CHANGED
    (tmp_path / "known").write_text(before)
    assert way(known, SCRIPT, LIMITS).raw.endswith(b"END\n")


@pytest.mark.parametrize("after", [1_500, 20_000, 45_000])
def test_a_connection_that_is_cut_gives_what_came_and_is_never_whole(
    way: Way, server: Server, tmp_path: Path, after: int
) -> None:
    with cutting_proxy(server.port, after) as port:
        reply = way(target(server, tmp_path, port), SCRIPT, LIMITS)
    assert b"END" not in reply.raw
    assert reply.cut.reason in {Reason.UNREACHABLE, Reason.NOT_COLLECTED}, reply.cut
    assert set(reply.raw) <= {ord("x")}


@pytest.mark.parametrize("after", [1_500, 45_000])
def test_a_connection_that_stalls_ends_at_its_deadline(way: Way, server: Server, tmp_path: Path, after: int) -> None:
    with cutting_proxy(server.port, after, stall=True) as port:
        began = time.monotonic()
        reply = way(target(server, tmp_path, port), SCRIPT, LIMITS)
        took = time.monotonic() - began
    assert b"END" not in reply.raw
    assert reply.cut.reason is Reason.TIMEOUT, reply.cut
    assert took < LIMITS.deadline + 4


def test_a_flood_is_cut_at_the_cap_and_its_process_ends(way: Way, server: Server, tmp_path: Path) -> None:
    limits = ShellLimits(connect=3, deadline=30, cap=1 << 20)
    reply = way(target(server, tmp_path, server.port), "exec cat /dev/zero\n", limits)
    assert (len(reply.raw), reply.cut.reason) == (1 << 20, Reason.TOO_LARGE)


def test_a_changed_host_key_is_refused_before_a_login(way: Way, server: Server, tmp_path: Path) -> None:
    before = server.connections
    reply = way(target(server, tmp_path, server.port, keygen(tmp_path / "other")), SCRIPT, LIMITS)
    assert (reply.raw, reply.cut.reason, reply.stage) == (b"", Reason.HOST_KEY_CHANGED, ConnectStage.KEY)
    assert server.connections == before


def test_output_that_arrives_while_standard_error_is_read_is_not_waited_for(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To read one stream of libssh2 receives the data of both; the socket is not ready again for what is received."""
    drop = libssh2._Visit._drop_errors

    def late(visit: libssh2._Visit) -> None:
        time.sleep(0.3)  # the end of the output arrives meanwhile
        drop(visit)

    monkeypatch.setattr(libssh2._Visit, "_drop_errors", late)
    at = target(server, tmp_path, server.port)
    assert libssh2.is_usable(at)
    reply = libssh2.run(at, "sleep 0.1; echo out; echo error >&2; sleep 0.1; echo END", LIMITS, Allowance())
    assert reply.raw == b"out\nEND\n"
    assert "the connection was cut" in reply.cut.detail  # what a script without an end mark gets
