"""A node on any SSH path gets the same answer as from `ssh` itself: it connects or refuses, and the output is the same."""

import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from getpass import getuser
from pathlib import Path

import pytest
from sshd import Server, free_port, keygen, needed, serving
from waiting import until

from rackcheck.inventory import Node
from rackcheck.inventory.node import Ssh
from rackcheck.model.fact import Reason, Unknown
from rackcheck.transport import known_hosts, local, openssh, ssh, ssh_config
from rackcheck.transport.wire import CommandStream, ConnectStage, ShellLimits

SCRIPT = "cat /proc/version; head -c 300000 /dev/zero | tr '\\0' x; echo END\n"
LIMITS = ShellLimits(connect=5, deadline=20)


@dataclass(frozen=True)
class Bed:
    """Three servers, of which two are jump hosts, and the configuration of a client."""

    folder: Path
    far: Server
    jumps: tuple[Server, ...]

    def client(self, *stanzas: str, known: Sequence[str] = ()) -> None:
        """Write the configuration that `ssh` and rackcheck read."""
        hosts = [f"Host jump{n}\n HostName 127.0.0.1\n Port {each.port}\n" for n, each in enumerate(self.jumps)]
        lines = [*known] if known else [self.far.known_hosts.read_text().strip()]
        lines += [each.known_hosts.read_text().strip() for each in self.jumps]
        (self.folder / "known").write_text("\n".join(lines) + "\n")
        keys = "".join(f" IdentityFile {each.key}\n" for each in (self.far, *self.jumps))
        every = f"Host *\n{keys} IdentitiesOnly yes\n UserKnownHostsFile {self.folder / 'known'}\n"
        every += " GlobalKnownHostsFile /dev/null\n StrictHostKeyChecking yes\n"
        far = f"Host far\n HostName 127.0.0.1\n Port {self.far.port}\n"
        (self.folder / "config").write_text("".join((*stanzas, *hosts, far, every)))

    def known(self, marker: str, names: str, key: Path) -> str:
        return f"{marker} {names} {' '.join(key.read_text().split()[:2])}".strip()

    @property
    def name(self) -> str:
        return f"[127.0.0.1]:{self.far.port}"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needed()
    return keygen(tmp_path_factory.mktemp("authority") / "ca")


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory, authority: Path) -> Iterator[tuple[Server, ...]]:
    def certified(folder: Path) -> Sequence[str]:
        subprocess.run(
            ["ssh-keygen", "-q", "-s", str(authority), "-I", "far", "-h", "-n", "127.0.0.1", str(folder / "host.pub")],
            check=True,
        )
        return f"HostCertificate {folder / 'host-cert.pub'}", f"TrustedUserCAKeys {authority}.pub"

    place = tmp_path_factory.mktemp("servers")
    with ExitStack() as stack:
        far = stack.enter_context(serving(place / "far", more=certified))
        yield (far, *(stack.enter_context(serving(place / f"jump{n}")) for n in range(3)))


@pytest.fixture
def bed(servers: tuple[Server, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bed:
    """The servers, and a client whose configuration is a file of the test: `ssh` takes no HOME from the environment."""
    own = shutil.which("ssh")
    assert own is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ssh").write_text(f'#!/bin/sh\nexec {own} -F {tmp_path / "config"} "$@"\n')
    (tmp_path / "bin" / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr(ssh_config, "CONFIGS", (str(tmp_path / "config"),))
    for each in (ssh_config._stanzas, ssh_config._ask_ssh, ssh_config._first, known_hosts.load):
        each.cache_clear()
    return Bed(tmp_path, servers[0], servers[1:])


def by_ssh(host: str = "far") -> bool:
    """Whether `ssh` itself connects, with a check of the host key and without questions."""
    words = ["ssh", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", host, "true"]
    return subprocess.run(words, capture_output=True, timeout=30, stdin=subprocess.DEVNULL, check=False).returncode == 0


def direct(bed: Bed) -> None:
    bed.client()


def one_jump(bed: Bed) -> None:
    bed.client("Host far\n ProxyJump jump0\n")


def three_jumps(bed: Bed) -> None:
    bed.client("Host far\n ProxyJump jump0,jump1,jump2\n")


def a_jump_that_is_not_known(bed: Bed) -> None:
    bed.client("Host far\n ProxyJump jump0,jump1\n")
    text = (bed.folder / "known").read_text()
    line = bed.jumps[1].known_hosts.read_text().strip()
    (bed.folder / "known").write_text(text.replace(line, ""))


def a_command_with_the_user(bed: Bed) -> None:
    bed.client("Host far\n ProxyCommand ssh -l %r -W %h:%p jump0\n")


def a_command_with_host_and_port(bed: Bed) -> None:
    bed.client("Host far\n ProxyCommand ssh -W %h:%p jump0\n")


def a_host_authority(bed: Bed) -> None:
    bed.client(known=[bed.known("@cert-authority", bed.name, authority_of(bed))])


def an_authority_of_other_hosts(bed: Bed) -> None:
    bed.client(known=[bed.known("@cert-authority", "*.example.com", authority_of(bed))])


def another_authority(bed: Bed) -> None:
    other = keygen(bed.folder / "other")
    bed.client(known=[bed.known("@cert-authority", bed.name, Path(f"{other}.pub"))])


def a_pattern(bed: Bed) -> None:
    bed.client(known=[bed.known("", "[127.0.0.*]:*", bed.far.folder / "host.pub")])


def a_pattern_that_excludes(bed: Bed) -> None:
    bed.client(known=[bed.known("", f"[127.0.0.*]:*,!{bed.name}", bed.far.folder / "host.pub")])


def a_hashed_name(bed: Bed) -> None:
    bed.client()
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(bed.folder / "known")], check=True, capture_output=True)


def a_revoked_key(bed: Bed) -> None:
    own = bed.far.known_hosts.read_text().strip()
    bed.client(known=[own, bed.known("@revoked", "*", bed.far.folder / "host.pub")])


def a_revoked_key_of_a_pattern(bed: Bed) -> None:
    own = bed.known("", "[127.0.0.*]:*", bed.far.folder / "host.pub")
    bed.client(known=[own, bed.known("@revoked", "*", bed.far.folder / "host.pub")])


def a_changed_key(bed: Bed) -> None:
    bed.client(known=[bed.known("", bed.name, Path(f"{keygen(bed.folder / 'other')}.pub"))])


def a_changed_key_behind_jumps(bed: Bed) -> None:
    other = bed.known("", bed.name, Path(f"{keygen(bed.folder / 'other')}.pub"))
    bed.client("Host far\n ProxyJump jump0,jump1\n", known=[other])


def no_known_key_behind_jumps(bed: Bed) -> None:
    bed.client("Host far\n ProxyJump jump0,jump1\n", known=["# none"])


def a_key_that_is_refused_behind_jumps(bed: Bed) -> None:
    other = keygen(bed.folder / "other")
    bed.client(f"Host far\n ProxyJump jump0,jump1\n IdentityFile {other}\n")
    text = (bed.folder / "config").read_text().replace(f" IdentityFile {bed.far.key}\n", "")
    (bed.folder / "config").write_text(text)


def a_user_certificate(bed: Bed) -> None:
    key = keygen(bed.folder / "certified")
    subprocess.run(
        ["ssh-keygen", "-q", "-s", str(authority_of(bed).with_suffix("")), "-I", "me", "-n", "root", f"{key}.pub"],
        check=True,
    )
    bed.client(f"Host far\n IdentityFile {key}\n")
    text = (bed.folder / "config").read_text().replace(f" IdentityFile {bed.far.key}\n", "")
    (bed.folder / "config").write_text(text)


def a_match_that_runs_a_command(bed: Bed) -> None:
    bed.client('Match host far exec "true"\n ProxyJump jump0,jump1\n')


def a_closed_port_behind_jumps(bed: Bed) -> None:
    bed.client("Host far\n Port 1\n ProxyJump jump0,jump1\n")


def authority_of(bed: Bed) -> Path:
    (line,) = [line for line in (bed.far.folder / "config").read_text().splitlines() if line.startswith("TrustedUser")]
    return Path(line.split()[1])


Prepare = Callable[[Bed], None]

WAYS: list[tuple[Prepare, bool]] = [
    (direct, True), (one_jump, True), (three_jumps, True), (a_jump_that_is_not_known, False),
    (a_command_with_the_user, True), (a_command_with_host_and_port, True), (a_host_authority, True),
    (an_authority_of_other_hosts, False), (another_authority, False), (a_pattern, True),
    (a_pattern_that_excludes, False), (a_hashed_name, True), (a_revoked_key, False),
    (a_revoked_key_of_a_pattern, False), (a_changed_key, False), (a_changed_key_behind_jumps, False),
    (no_known_key_behind_jumps, False), (a_key_that_is_refused_behind_jumps, False), (a_user_certificate, True),
    (a_match_that_runs_a_command, True), (a_closed_port_behind_jumps, False),
]  # fmt: skip


@pytest.mark.parametrize(("prepare", "connects"), WAYS, ids=[prepare.__name__ for prepare, _ in WAYS])
def test_a_node_gets_the_same_answer_as_from_ssh(bed: Bed, prepare: Prepare, *, connects: bool) -> None:
    prepare(bed)
    assert by_ssh() is connects
    reply = ssh.run(ssh_config.resolve(Node("n1", host="far"), {}), SCRIPT, LIMITS)
    assert reply.reached is connects, reply.cut
    assert reply.raw == (local.run(SCRIPT, LIMITS).raw if connects else b"")


@pytest.mark.parametrize(
    ("prepare", "reason", "stage"),
    [
        (another_authority, Reason.HOST_KEY_CHANGED, ConnectStage.KEY),
        (a_pattern_that_excludes, Reason.HOST_KEY_CHANGED, ConnectStage.KEY),
        (a_revoked_key_of_a_pattern, Reason.HOST_KEY_CHANGED, ConnectStage.KEY),
        (a_changed_key_behind_jumps, Reason.HOST_KEY_CHANGED, ConnectStage.KEY),
        (no_known_key_behind_jumps, Reason.HOST_KEY_CHANGED, ConnectStage.KEY),
        (a_key_that_is_refused_behind_jumps, Reason.DENIED, ConnectStage.LOGIN),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_refusal_has_its_reason(bed: Bed, prepare: Prepare, reason: Reason, stage: ConnectStage) -> None:
    prepare(bed)
    reply = ssh.run(ssh_config.resolve(Node("n1", host="far"), {}), SCRIPT, LIMITS)
    assert (reply.cut.reason, reply.stage) == (reason, stage), reply.cut


def test_jump_hosts_of_the_inventory_are_used(bed: Bed) -> None:
    bed.client()
    target = ssh_config.resolve(Node("n1", host="far", ssh=Ssh(jump="jump0,jump1,jump2")), {})
    before = [each.connections for each in bed.jumps]
    assert ssh.run(target, SCRIPT, LIMITS).raw == local.run(SCRIPT, LIMITS).raw
    assert [each.connections for each in bed.jumps] == [count + 1 for count in before]


def test_what_the_inventory_gives_counts_more_than_the_configuration(bed: Bed) -> None:
    bed.client("Host far\n User nobody\n Port 1\n ProxyJump jump0,jump1\n", known=["# none"])
    own = Ssh(user="root", port=bed.far.port, key=str(bed.far.key), known_hosts=str(bed.far.known_hosts))
    assert ssh.run(ssh_config.resolve(Node("n1", host="far", ssh=own), {}), SCRIPT, LIMITS).reached


def test_the_deadline_ends_the_command_and_all_its_jumps(bed: Bed) -> None:
    three_jumps(bed)
    target = ssh_config.resolve(Node("n1", host="far"), {})
    reply = ssh.run(target, "echo one; sleep 60\n", replace(LIMITS, deadline=4))
    assert (reply.cut.reason, reply.raw) == (Reason.TIMEOUT, b"one\n")
    left = subprocess.run(["pgrep", "-f", str(bed.folder / "config")], capture_output=True, text=True, check=False)
    assert left.stdout == ""


def test_too_much_output_is_cut_at_the_cap(bed: Bed) -> None:
    three_jumps(bed)
    reply = ssh.run(ssh_config.resolve(Node("n1", host="far"), {}), SCRIPT, replace(LIMITS, cap=1000))
    assert (reply.cut.reason, len(reply.raw)) == (Reason.TOO_LARGE, 1000)


def test_a_command_can_be_talked_to(bed: Bed) -> None:
    three_jumps(bed)
    heard = []

    def speak(stream: CommandStream) -> object:
        stream.send(b"hello\n", 5)
        stream.finish()
        while chunk := stream.receive(5):
            heard.append(chunk)
        return local.run("", LIMITS).cut

    reply = ssh.talk(ssh_config.resolve(Node("n1", host="far"), {}), "cat", LIMITS, speak)  # type: ignore[arg-type]
    assert reply.reached
    assert b"".join(heard) == b"hello\n"


@pytest.mark.parametrize(("command", "stage"), [
    ("echo out; echo Permission denied >&2; exit 255", ConnectStage.SCRIPT),
    ("echo Permission denied >&2; exit 1", ConnectStage.SCRIPT),
])  # fmt: skip
def test_what_a_command_prints_itself_is_no_refusal_of_the_login(bed: Bed, command: str, stage: ConnectStage) -> None:
    three_jumps(bed)
    why = local.run("", LIMITS).cut

    def speak(stream: CommandStream) -> Unknown:
        while stream.receive(10):
            pass
        return why

    reply = ssh.talk(ssh_config.resolve(Node("n1", host="far"), {}), command, LIMITS, speak)
    assert (reply.stage, reply.cut) == (stage, why)


def test_a_refused_login_ends_a_talk_with_its_reason(bed: Bed) -> None:
    a_key_that_is_refused_behind_jumps(bed)

    def speak(stream: CommandStream) -> Unknown:
        while stream.receive(10):
            pass
        return local.run("", LIMITS).cut

    reply = ssh.talk(ssh_config.resolve(Node("n1", host="far"), {}), "cat", LIMITS, speak)
    assert (reply.stage, reply.cut.reason) == (ConnectStage.LOGIN, Reason.DENIED)


def test_a_password_is_refused_with_its_reason_and_never_passed_on(bed: Bed) -> None:
    three_jumps(bed)
    node = Node("n1", host="far", ssh=Ssh(password="env:P"))
    target = ssh_config.resolve(node, {"env:P": "correct horse battery"})
    reply = ssh.run(target, SCRIPT, LIMITS)
    assert (reply.cut.reason, reply.stage) == (Reason.DENIED, ConnectStage.LOGIN)
    assert "ssh.password cannot be used on this path (ProxyJump with several hosts)" in str(reply.cut)
    assert not any("correct horse" in word for word in openssh.words(target, LIMITS))


def test_without_a_client_the_tool_is_missing(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    three_jumps(bed)
    target = ssh_config.resolve(Node("n1", host="far"), {})
    monkeypatch.setenv("PATH", str(bed.folder))
    assert ssh.run(target, SCRIPT, LIMITS).cut.reason is Reason.TOOL_MISSING


def test_no_option_of_the_user_can_make_the_client_trust_a_new_key(bed: Bed) -> None:
    no_known_key_behind_jumps(bed)
    config = (bed.folder / "config").read_text()
    (bed.folder / "config").write_text(config.replace("StrictHostKeyChecking yes", "StrictHostKeyChecking no"))
    reply = ssh.run(ssh_config.resolve(Node("n1", host="far"), {}), SCRIPT, LIMITS)
    assert reply.cut.reason is Reason.HOST_KEY_CHANGED
    assert (bed.folder / "known").read_text().startswith("# none")


@pytest.mark.parametrize("way", ["ProxyJump", "jump of the inventory", "ProxyCommand with other tokens"])
def test_a_jump_host_that_refuses_while_others_log_in_is_asked_again(bed: Bed, tmp_path: Path, way: str) -> None:
    with serving(tmp_path / "crowded", more=lambda _: ("MaxStartups 1:100:1", "LoginGraceTime 20")) as crowded:
        hop = f"Host crowded\n HostName 127.0.0.1\n Port {crowded.port}\n IdentityFile {crowded.key}\n"
        hop += f" UserKnownHostsFile {crowded.known_hosts}\n"
        own = {"ProxyJump": " ProxyJump crowded\n", "jump of the inventory": ""}
        path = own.get(way, " ProxyCommand ssh -l %r -W %h:%p crowded\n")
        bed.client(f"Host far\n User {getuser()}\n{path}", hop)
        given = Ssh(jump="crowded" if way == "jump of the inventory" else "")
        target = ssh_config.resolve(Node("far", host="far", ssh=given), {})
        assert target.is_behind_others
        with socket.create_connection(
            ("127.0.0.1", crowded.port)
        ) as other:  # it logs in slowly, and takes the only place
            until(lambda: "Connection from" in crowded.log, "the server did not accept the other connection")
            freeing = threading.Timer(1.0, other.close)
            freeing.start()
            reply = ssh.run(target, "echo END\n", LIMITS)
            freeing.join()
        assert reply.raw.decode().strip() == "END", reply.cut
        assert "MaxStartups" in crowded.log, "no connection was refused"


def test_a_jump_host_that_is_gone_is_named_and_is_not_asked_for_ever(bed: Bed) -> None:
    bed.client(f"Host far\n ProxyJump 127.0.0.1:{free_port()}\n")
    began = time.monotonic()
    reply = ssh.run(ssh_config.resolve(Node("far", host="far"), {}), SCRIPT, LIMITS)
    assert (reply.cut.reason, reply.stage) == (Reason.UNREACHABLE, ConnectStage.HANDSHAKE)
    assert "Connection refused" in reply.cut.detail or "UNKNOWN port 65535" in reply.cut.detail
    assert time.monotonic() - began < 20
