"""A server whose algorithms a library does not have is read by the next one, and the first one logs in nowhere."""

import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import paramiko
import pytest
from password_host import PasswordHost
from sshd import Server, keygen, serving

from rackcheck.inventory import Node
from rackcheck.inventory.node import Ssh
from rackcheck.model.fact import Reason
from rackcheck.transport import libssh2, local, ssh, ssh_config
from rackcheck.transport.memory import Allowance
from rackcheck.transport.presented import host_keys
from rackcheck.transport.ssh_config import Target
from rackcheck.transport.wire import ConnectStage, ShellLimits

LIMITS = ShellLimits(connect=5, deadline=20)
SCRIPT = "cat /proc/version; head -c 300000 /dev/zero | tr '\\0' x; echo END\n"

NEITHER = {
    "key exchange": ("KexAlgorithms sntrup761x25519-sha512@openssh.com",),
    "checksum": ("Ciphers aes256-ctr", "MACs umac-128-etm@openssh.com"),
}
"""Settings of a server with which neither libssh2 nor paramiko has an algorithm in common, but `ssh` has."""


@dataclass
class Newest(PasswordHost):
    """A server with nothing but the newest key exchange of paramiko, which libssh2 does not have."""

    password: str = ""
    clients: list[str] = field(default_factory=list)

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        self.asked.append("key")
        return paramiko.common.AUTH_SUCCESSFUL

    def serve(self, listener: socket.socket, key: paramiko.PKey) -> None:
        with suppress(OSError):
            while True:
                transport = paramiko.Transport(listener.accept()[0])
                transport.get_security_options().kex = ("mlkem768x25519-sha256",)
                transport.add_server_key(key)
                with suppress(paramiko.SSHException, EOFError):
                    transport.start_server(server=self)
                self.clients.append(transport.remote_version)


@pytest.fixture
def newest(tmp_path: Path) -> Iterator[tuple[Newest, Target]]:
    host, key = Newest(), paramiko.Ed25519Key.from_private_key_file(str(keygen(tmp_path / "host")))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
        (tmp_path / "known").write_text(f"[127.0.0.1]:{port} {key.get_name()} {key.get_base64()}\n")
        thread = threading.Thread(target=host.serve, args=(listener, key), daemon=True)
        thread.start()
        given = Ssh(port=port, key=str(keygen(tmp_path / "user")), known_hosts=str(tmp_path / "known"))
        yield host, ssh_config.resolve(Node("n1", host="127.0.0.1", ssh=given), {})
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_a_server_that_libssh2_cannot_talk_to_is_read_by_paramiko_with_one_login(
    newest: tuple[Newest, Target],
) -> None:
    host, target = newest
    assert libssh2.is_usable(target)
    with pytest.raises(libssh2.Unsupported):
        libssh2.run(target, SCRIPT, LIMITS, Allowance())
    assert not host.asked
    reply = ssh.run(target, SCRIPT, LIMITS)
    assert (reply.reached, reply.raw) == (True, local.run(SCRIPT, LIMITS).raw), reply.cut
    assert host.asked == ["key"]
    assert ["libssh2" in each for each in host.clients] == [True, True, False]
    assert "paramiko" in host.clients[-1]


def at(server: Server, password: str = "") -> Target:
    given = Ssh(port=server.port, key=str(server.key), known_hosts=str(server.known_hosts), password=password)
    return ssh_config.resolve(Node("n1", host="127.0.0.1", ssh=given), {password: "a secret"} if password else {})


@pytest.mark.parametrize("library", ["paramiko", "libssh2"])
@pytest.mark.parametrize("lines", NEITHER.values(), ids=NEITHER)
def test_a_server_that_only_ssh_can_talk_to_is_read_by_ssh_with_one_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: Sequence[str], library: str
) -> None:
    monkeypatch.setenv(libssh2.CHOICE, library)
    with serving(tmp_path / "sshd", more=lambda _: lines) as server:
        reply = ssh.run(at(server), SCRIPT, LIMITS)
        assert (reply.reached, reply.raw) == (True, local.run(SCRIPT, LIMITS).raw), reply.cut
        assert server.connections == 1
        ours = server.known_hosts.read_text().split()[1:3]
        assert [[each.kind, each.text] for each in host_keys(at(server), LIMITS)] == [ours]
        assert server.connections == 1


def test_a_password_for_a_server_that_only_ssh_can_talk_to_is_refused_with_the_reason(tmp_path: Path) -> None:
    with serving(tmp_path / "sshd", more=lambda _: NEITHER["key exchange"]) as server:
        reply = ssh.run(at(server, "env:P"), SCRIPT, LIMITS)
    assert (reply.cut.reason, reply.stage) == (Reason.DENIED, ConnectStage.LOGIN)
    assert "ssh.password cannot be used on this path (algorithms that only `ssh` has)" in reply.cut.detail


@pytest.mark.parametrize("line", ["KexAlgorithms diffie-hellman-group14-sha1", "Ciphers aes128-cbc", "MACs hmac-md5"])
def test_libssh2_uses_no_algorithm_that_ssh_refuses(tmp_path: Path, line: str) -> None:
    more = (line, "Ciphers aes256-ctr") if line.startswith("MACs") else (line,)
    with serving(tmp_path / "sshd", more=lambda _: more) as server:
        words = ["ssh", "-o", "BatchMode=yes", "-F", "none", "-i", str(server.key), "-p", str(server.port)]
        words += ["-o", f"UserKnownHostsFile={server.known_hosts}", "127.0.0.1", "true"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert "no matching" in done.stderr
        with pytest.raises(libssh2.Unsupported):
            libssh2.run(at(server), SCRIPT, LIMITS, Allowance())
        assert not server.connections


@pytest.mark.parametrize("installed", [True, False])
def test_a_server_with_which_nothing_has_an_algorithm_in_common_is_named_with_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, installed: bool
) -> None:
    with serving(tmp_path / "sshd", more=lambda _: ("KexAlgorithms diffie-hellman-group1-sha1",)) as server:
        target = at(server)
        if not installed:
            monkeypatch.setenv("PATH", str(tmp_path))
        reply = ssh.run(target, SCRIPT, LIMITS)
        with pytest.raises(OSError, match=r".+"):
            list(host_keys(target, LIMITS))
    assert (reply.cut.reason, reply.stage) == (Reason.UNREACHABLE, ConnectStage.HANDSHAKE)
    assert "no acceptable kex algorithm" in reply.cut.detail
