"""A node on any SSH path gets the same answer as from `ssh` itself: it connects or refuses, and the output is the same."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from getpass import getuser
from pathlib import Path

import agents
import pytest
from command import rackcheck
from sshd import Server, free_port, keygen, needed, serving
from waiting import until

from rackcheck.inventory import Node, load
from rackcheck.inventory.node import Ssh
from rackcheck.model.fact import Reason, Unknown
from rackcheck.transport import libssh2, local, openssh, ssh, ssh_config
from rackcheck.transport.presented import host_keys
from rackcheck.transport.wire import CommandStream, ConnectStage, ShellLimits

pytestmark = pytest.mark.landing

SCRIPT = "cat /proc/version; head -c 300000 /dev/zero | tr '\\0' x; echo END\n"
LIMITS = ShellLimits(connect=5, deadline=20)


@dataclass(frozen=True)
class Bed:
    """Three servers, of which two are jump hosts, and the configuration of a client."""

    folder: Path
    far: Server
    jumps: tuple[Server, ...]
    started: ExitStack
    set_variable: Callable[[str, str], None]

    def keys(self, *lines: str) -> None:
        """Replace the keys of the configuration by other lines."""
        text = (self.folder / "config").read_text()
        text = "".join(each for each in text.splitlines(keepends=True) if "Identit" not in each)
        (self.folder / "config").write_text(f"{text}{''.join(f' {line}{chr(10)}' for line in lines)}")

    def agent(self, *keys: Path, words: Sequence[str] = ()) -> Path:
        """Start the real agent with these keys, as the user's own."""
        place = self.started.enter_context(agents.agent(self.folder / "agent", *keys, words=words))
        self.set_variable("SSH_AUTH_SOCK", str(place))
        return place

    def tokens(self, *tokens: agents.Token) -> None:
        """Start an agent that holds the keys of FIDO tokens, as the user's own."""
        place = self.started.enter_context(agents.answering(self.folder / "agent", agents.of_tokens(*tokens)))
        self.set_variable("SSH_AUTH_SOCK", str(place))

    def accept(self, line: str) -> None:
        """Let the node accept one more public key, until the test ends."""
        file = self.far.folder / "authorized_keys"
        self.started.callback(file.write_text, file.read_text())
        file.write_text(f"{file.read_text()}{line}\n")

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
def bed(servers: tuple[Server, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bed]:
    """The servers, and a client whose configuration is a file of the test: `ssh` takes no HOME from the environment."""
    own = shutil.which("ssh")
    assert own is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ssh").write_text(f'#!/bin/sh\nexec {own} -F {tmp_path / "config"} "$@"\n')
    (tmp_path / "bin" / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr(ssh_config, "CONFIGS", (str(tmp_path / "config"),))
    for each in (ssh_config._stanzas, ssh_config._ask_ssh):
        each.cache_clear()
    with ExitStack() as started:
        yield Bed(tmp_path, servers[0], servers[1:], started, monkeypatch.setenv)


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


def a_key_only_in_an_agent(bed: Bed) -> None:
    bed.client()
    bed.keys()
    bed.agent(bed.far.key)


def a_key_only_in_an_agent_behind_jumps(bed: Bed) -> None:
    bed.client("Host far\n ProxyJump jump0,jump1\n")
    bed.keys()
    bed.agent(bed.far.key, *(each.key for each in bed.jumps))


def an_agent_with_other_keys_before(bed: Bed) -> None:
    bed.client()
    bed.keys()
    bed.agent(keygen(bed.folder / "one"), keygen(bed.folder / "two", "rsa"), bed.far.key)


def an_rsa_key_in_an_agent(bed: Bed) -> None:
    bed.client()
    bed.keys()
    key = keygen(bed.folder / "rsa", "rsa")
    bed.accept(Path(f"{key}.pub").read_text())
    bed.agent(key)


def a_certificate_in_an_agent(bed: Bed) -> None:
    a_user_certificate(bed)
    bed.agent(bed.folder / "certified")
    bed.keys()


def an_agent_without_the_key(bed: Bed) -> None:
    bed.client()
    bed.keys()
    bed.agent(keygen(bed.folder / "other"))


def a_key_file_that_is_refused_and_an_agent(bed: Bed) -> None:
    bed.client()
    bed.keys(f"IdentityFile {keygen(bed.folder / 'other')}")
    bed.agent(bed.far.key)


def a_key_file_and_an_agent_that_does_not_sign(bed: Bed) -> None:
    bed.client()
    bed.keys(f"IdentityFile {bed.far.key}")
    other = keygen(bed.folder / "other")
    bed.accept(Path(f"{other}.pub").read_text())
    bed.agent(other, words=["-c"])  # each signature is confirmed in a window, and there is none


def an_agent_whose_keys_are_not_named(bed: Bed) -> None:
    bed.client()
    bed.keys(f"IdentityFile {keygen(bed.folder / 'other')}", "IdentitiesOnly yes")
    bed.agent(bed.far.key)


def a_public_key_whose_private_key_is_in_the_agent(bed: Bed) -> None:
    bed.client()
    (bed.folder / "mine.pub").write_text(Path(f"{bed.far.key}.pub").read_text())
    bed.keys(f"IdentityFile {bed.folder / 'mine.pub'}", "IdentitiesOnly yes")
    bed.agent(bed.far.key)


def a_key_file_of_which_only_the_public_key_is_there(bed: Bed) -> None:
    a_public_key_whose_private_key_is_in_the_agent(bed)
    bed.keys(f"IdentityFile {bed.folder / 'mine'}", "IdentitiesOnly yes")


def an_encrypted_key_file_that_the_agent_has(bed: Bed) -> None:
    bed.client()
    key = keygen(bed.folder / "locked")
    bed.accept(Path(f"{key}.pub").read_text())
    bed.agent(key)
    subprocess.run(["ssh-keygen", "-q", "-p", "-N", "a passphrase", "-f", str(key)], check=True, capture_output=True)
    Path(f"{key}.pub").unlink()
    bed.keys(f"IdentityFile {key}", "IdentitiesOnly yes")


def an_encrypted_key_file_in_the_agent_beside_one_that_is_refused(bed: Bed) -> None:
    an_encrypted_key_file_that_the_agent_has(bed)
    other = keygen(bed.folder / "other")
    bed.keys(f"IdentityFile {other}", f"IdentityFile {bed.folder / 'locked'}", "IdentitiesOnly yes")


def an_agent_of_the_configuration(bed: Bed) -> None:
    bed.client()
    bed.keys(f"IdentityAgent {bed.agent(bed.far.key)}")
    bed.set_variable("SSH_AUTH_SOCK", "/nonexistent")


def no_agent_of_the_configuration(bed: Bed) -> None:
    a_key_only_in_an_agent(bed)
    bed.keys("IdentityAgent none")


def an_agent_that_has_ended(bed: Bed) -> None:
    bed.client()
    bed.set_variable("SSH_AUTH_SOCK", str(bed.folder / "gone"))


def a_token(bed: Bed, token: agents.Token, *options: str) -> None:
    bed.client()
    bed.keys()
    bed.accept(" ".join([*([",".join(options)] if options else []), token.line]))
    bed.tokens(token)


def a_security_key_in_an_agent(bed: Bed) -> None:
    a_token(bed, agents.ed25519_token())


def a_security_key_of_the_other_kind(bed: Bed) -> None:
    a_token(bed, agents.ecdsa_token())


def a_security_key_behind_jumps(bed: Bed) -> None:
    token = agents.ed25519_token()
    a_token(bed, token)
    bed.client("Host far\n ProxyJump jump0,jump1\n")
    bed.keys("Host jump*", *(f"IdentityFile {each.key}" for each in bed.jumps))


def a_security_key_that_was_not_touched(bed: Bed) -> None:
    a_token(bed, agents.ed25519_token(flags=0))


def a_security_key_that_need_not_be_touched(bed: Bed) -> None:
    a_token(bed, agents.ed25519_token(flags=0), "no-touch-required")


def a_security_key_with_a_signature_of_another(bed: Bed) -> None:
    token = agents.ed25519_token()
    a_token(bed, replace(token, sign=agents.ed25519_token().sign))


def strict(bed: Bed, token: agents.Token) -> None:
    """A server that wants the token to have verified its user."""
    more = ("PubkeyAuthOptions verify-required",)
    server = bed.started.enter_context(serving(bed.folder / "strict", more=lambda _: more))
    (server.folder / "authorized_keys").write_text(f"{token.line}\n")
    bed.client(f"Host far\n Port {server.port}\n", known=[server.known_hosts.read_text().strip()])
    bed.keys()
    bed.tokens(token)


def a_security_key_without_the_verification_that_is_required(bed: Bed) -> None:
    strict(bed, agents.ed25519_token(agents.TOUCHED))


def a_security_key_with_the_verification_that_is_required(bed: Bed) -> None:
    strict(bed, agents.ed25519_token(agents.TOUCHED | agents.VERIFIED))


def handle(bed: Bed, *, public: bool = False) -> Path:
    """The file of a security key that an agent has; the file beside it with the public key may be missing."""
    token = agents.ed25519_token()
    a_token(bed, token)
    file = bed.folder / "id_sk"
    file.write_text(token.handle())
    file.chmod(0o600)
    if public:
        Path(f"{file}.pub").write_text(f"{token.line}\n")
    return file


def the_file_of_a_security_key(bed: Bed) -> None:
    bed.keys(f"IdentityFile {handle(bed)}", "IdentitiesOnly yes")


def the_file_of_a_security_key_that_no_agent_has(bed: Bed) -> None:
    the_file_of_a_security_key(bed)
    bed.set_variable("SSH_AUTH_SOCK", "/nonexistent")


def the_file_of_a_security_key_beside_a_key_that_is_refused(bed: Bed) -> None:
    file, other = handle(bed, public=True), keygen(bed.folder / "other")
    bed.keys(f"IdentityFile {other}", f"IdentityFile {file}", "IdentitiesOnly yes")


def the_public_key_of_a_security_key(bed: Bed) -> None:
    bed.keys(f"IdentityFile {handle(bed, public=True)}.pub", "IdentitiesOnly yes")


BY_AGENT: list[tuple[Prepare, bool]] = [
    (a_key_only_in_an_agent, True), (a_key_only_in_an_agent_behind_jumps, True),
    (an_agent_with_other_keys_before, True), (an_rsa_key_in_an_agent, True), (a_certificate_in_an_agent, True),
    (an_agent_without_the_key, False), (a_key_file_that_is_refused_and_an_agent, True),
    (a_key_file_and_an_agent_that_does_not_sign, True), (an_agent_whose_keys_are_not_named, False),
    (a_public_key_whose_private_key_is_in_the_agent, True),
    (a_key_file_of_which_only_the_public_key_is_there, True), (an_encrypted_key_file_that_the_agent_has, True),
    (an_encrypted_key_file_in_the_agent_beside_one_that_is_refused, True), (an_agent_of_the_configuration, True),
    (no_agent_of_the_configuration, False), (an_agent_that_has_ended, True), (a_security_key_in_an_agent, True),
    (a_security_key_of_the_other_kind, True), (a_security_key_behind_jumps, True),
    (a_security_key_that_was_not_touched, False), (a_security_key_that_need_not_be_touched, True),
    (a_security_key_with_a_signature_of_another, False),
    (a_security_key_without_the_verification_that_is_required, False),
    (a_security_key_with_the_verification_that_is_required, True), (the_file_of_a_security_key, True),
    (the_file_of_a_security_key_that_no_agent_has, False),
    (the_file_of_a_security_key_beside_a_key_that_is_refused, True), (the_public_key_of_a_security_key, True),
]  # fmt: skip


@pytest.mark.parametrize("library", ["paramiko", "libssh2"])
@pytest.mark.parametrize(("prepare", "connects"), BY_AGENT, ids=[prepare.__name__ for prepare, _ in BY_AGENT])
def test_a_key_that_an_agent_has_gets_the_same_answer_as_from_ssh(
    bed: Bed, monkeypatch: pytest.MonkeyPatch, library: str, prepare: Prepare, *, connects: bool
) -> None:
    monkeypatch.setenv(libssh2.CHOICE, library)
    prepare(bed)
    assert by_ssh() is connects
    reply = ssh.run(ssh_config.resolve(Node("n1", host="far"), {}), SCRIPT, LIMITS)
    assert reply.reached is connects, reply.cut
    assert reply.raw == (local.run(SCRIPT, LIMITS).raw if connects else b"")
    if not connects:
        assert (reply.cut.reason, reply.stage) == (Reason.DENIED, ConnectStage.LOGIN), reply.cut


@pytest.mark.parametrize("library", ["paramiko", "libssh2"])
def test_a_security_key_gives_the_facts_that_an_ordinary_key_gives(
    bed: Bed, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setenv(libssh2.CHOICE, library)
    (bed.folder / "inventory.yaml").write_text("rackcheck: 1\nnodes: { far: { host: far } }\n")

    def facts() -> dict[str, object]:
        done = rackcheck("facts", "far", "--json", "-i", bed.folder / "inventory.yaml")
        assert done.status == 0, done.err
        kept = {"identity", "version"}  # the others may change between two readings
        found = json.loads(done.out)["facts"].items()
        return {path: fact | {"time": ""} for path, fact in found if fact["class"] in kept and "value" in fact}

    direct(bed)
    before = facts()
    ssh_config._ask_ssh.cache_clear()
    a_security_key_in_an_agent(bed)
    assert len(before) > 10
    assert json.dumps(facts()) == json.dumps(before)
    assert "ED25519-SK" in bed.far.log.rpartition("Accepted publickey")[2]


@pytest.mark.parametrize("library", ["paramiko", "libssh2"])
def test_an_agent_that_never_answers_is_named_and_costs_no_other_key(
    bed: Bed, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setenv(libssh2.CHOICE, library)
    ended, limits = threading.Event(), replace(LIMITS, connect=2)
    bed.started.enter_context(agents.answering(bed.folder / "agent", lambda _: bytes(ended.wait(60))))
    bed.started.callback(ended.set)
    bed.client()
    bed.set_variable("SSH_AUTH_SOCK", str(bed.folder / "agent"))
    bed.keys(f"IdentityFile {bed.far.key}")
    assert ssh.run(ssh_config.resolve(Node("n1", host="far"), {}), SCRIPT, limits).reached
    bed.keys(f"IdentityFile {keygen(bed.folder / 'other')}")
    ssh_config._ask_ssh.cache_clear()
    reply = ssh.run(ssh_config.resolve(Node("n1", host="far"), {}), SCRIPT, limits)
    assert (reply.cut.reason, reply.stage) == (Reason.DENIED, ConnectStage.LOGIN)
    assert "the agent (timed out)" in reply.cut.detail


def test_a_security_key_is_touched_only_if_no_other_key_is_accepted(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(libssh2.CHOICE, "paramiko")
    a_security_key_in_an_agent(bed)
    touched: list[bytes] = []

    def counted(message: bytes) -> bytes:
        touched.append(message)
        return b""

    bed.keys(f"IdentityFile {bed.far.key}")
    token = replace(agents.ed25519_token(), sign=counted)
    place = bed.started.enter_context(agents.answering(bed.folder / "second", agents.of_tokens(token)))
    bed.set_variable("SSH_AUTH_SOCK", str(place))
    assert ssh.run(ssh_config.resolve(Node("n1", host="far"), {}), SCRIPT, LIMITS).reached
    assert not touched


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


def script(bed: Bed, text: str, name: str = "way") -> Path:
    """A program for the configuration; `$out` is a file to which it may add lines."""
    file = bed.folder / name
    file.write_text(f"#!/bin/sh\nout={bed.folder / 'out'}\n{text}\n")
    file.chmod(0o755)
    return file


def nowhere(bed: Bed, *lines: str) -> None:
    """A host whose name has no address, so that it is reached only as its own lines say."""
    bed.client("".join(f"{line}\n" for line in lines), known=["# none"])
    text = (bed.folder / "config").read_text()
    (bed.folder / "config").write_text(text.replace("Host far\n HostName 127.0.0.1", "Host far\n HostName far.invalid"))


def through(bed: Bed) -> Path:
    return script(bed, f'echo "$@" >>"$out"; exec ssh -W 127.0.0.1:{bed.far.port} jump0')


def all_tokens(bed: Bed) -> None:
    nowhere(bed, "Host far", f" ProxyCommand {through(bed)} %h %n %p %r 100%%")


def only_the_name(bed: Bed) -> None:
    nowhere(bed, "Host far", f" ProxyCommand {through(bed)} %n")


def a_match_with_a_command(bed: Bed) -> None:
    script(bed, 'echo "$@" >>"$out"; test "$1 $2 $3" = "far root far"', "asked")
    nowhere(bed, f'Match exec "{bed.folder}/asked %n %r %h"', f" ProxyCommand {through(bed)} %p")


def a_match_with_a_command_and_the_user_of_the_inventory(bed: Bed) -> None:
    script(bed, 'echo "$@" >>"$out"; test "$1" = 2222', "asked")
    nowhere(bed, f'Match user root originalhost far exec "{bed.folder}/asked %p"', f" ProxyCommand {through(bed)} %p")
    (bed.folder / "config").write_text((bed.folder / "config").read_text() + "Host far\n User nobody\n")


def a_passed_socket(bed: Bed) -> None:
    code = (
        "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1])));"
        "socket.send_fds(socket.socket(fileno=1), [b'x'], [s.fileno()])"
    )
    (bed.folder / "pass.py").write_text(code)
    way = f" ProxyCommand {sys.executable} {bed.folder / 'pass.py'} {bed.far.port}"
    nowhere(bed, "Host far", " ProxyUseFdpass yes", way)


ONLY_SO = [
    all_tokens, only_the_name, a_match_with_a_command, a_match_with_a_command_and_the_user_of_the_inventory,
    a_passed_socket,
]  # fmt: skip


@pytest.mark.parametrize("prepare", ONLY_SO)
def test_a_host_key_is_read_and_trusted_over_the_path_of_the_audit(bed: Bed, prepare: Prepare) -> None:
    prepare(bed)
    own = prepare is a_match_with_a_command_and_the_user_of_the_inventory
    place = bed.folder / "inventory.yaml"
    place.write_text(f"rackcheck: 1\nnodes: {{ n1: {{ host: far{', ssh: { user: root, port: 2222 }' * own} }} }}\n")
    shown = json.loads(rackcheck("inventory", "trust", "-i", place, "--json").out)["seen"]
    done = subprocess.run(["ssh-keygen", "-lf", str(bed.far.folder / "host.pub")], capture_output=True, check=True)
    assert [(row["state"], row["why"], row.get("fingerprint")) for row in shown] == [
        ("new", "", done.stdout.decode().split()[1])
    ]
    (bed.folder / "list").write_text(f"n1 {shown[0]['fingerprint']}\n")
    before = bed.far.connections
    trusted = rackcheck("inventory", "trust", "-i", place, "--expect", bed.folder / "list")
    assert (trusted.status, bed.far.connections) == (0, before), trusted.err
    reply = ssh.run(ssh_config.resolve(load(place).nodes["n1"], {}), SCRIPT, LIMITS)
    assert reply.raw == local.run(SCRIPT, LIMITS).raw, reply.cut
    assert (bed.folder / "known").read_text().startswith("# none")


@pytest.mark.parametrize("prepare", [all_tokens, only_the_name, a_match_with_a_command])
def test_a_command_of_the_configuration_gets_the_same_words_as_from_ssh(bed: Bed, prepare: Prepare) -> None:
    prepare(bed)
    own = bed.far.known_hosts.read_text().split()[1:3]
    with (bed.folder / "known").open("a") as known:
        known.write(f"[far.invalid]:{bed.far.port} {' '.join(own)}\n")
    assert by_ssh()
    wanted = (bed.folder / "out").read_text()
    (bed.folder / "out").unlink()
    assert ssh.run(ssh_config.resolve(Node("n1", host="far"), {}), SCRIPT, LIMITS).reached
    assert (bed.folder / "out").read_text() == wanted != ""


def an_unknown_token(bed: Bed) -> None:
    nowhere(bed, "Host far", f" ProxyCommand {through(bed)} %h %C")


def an_unknown_option(bed: Bed) -> None:
    nowhere(bed, "Host far", " ProxyCommander ssh")


@pytest.mark.parametrize(
    ("prepare", "said"),
    [(an_unknown_token, "unknown key %C"), (an_unknown_option, "line 2: Bad configuration")],
)
def test_a_path_that_ssh_refuses_is_refused_with_the_words_of_ssh_and_the_next_command(
    bed: Bed, prepare: Prepare, said: str
) -> None:
    prepare(bed)
    assert not by_ssh()
    place = bed.folder / "inventory.yaml"
    place.write_text("rackcheck: 1\nnodes: { n1: { host: far } }\n")
    done = rackcheck("inventory", "trust", "-i", place, "--json")
    (row,) = json.loads(done.out)["seen"]
    assert (done.status, row["state"]) == (3, "not read")
    assert said in row["why"]
    assert row["why"].startswith("see `ssh -v far`: ")
    reply = ssh.run(ssh_config.resolve(Node("n1", host="far"), {}), SCRIPT, LIMITS)
    assert (reply.cut.reason, reply.raw) == (Reason.UNREACHABLE, b"")
    assert said in reply.cut.detail


def test_a_user_with_characters_of_a_shell_is_never_put_into_a_command(bed: Bed) -> None:
    all_tokens(bed)
    node = Node("n1", host="far", ssh=Ssh(user=f"root;touch {bed.folder / 'harm'};"))
    target = ssh_config.resolve(node, {})
    assert not target.proxy
    assert target.needs
    assert not ssh.run(target, SCRIPT, LIMITS).reached
    assert not (bed.folder / "harm").exists()


def test_a_way_that_ends_is_named_with_its_own_message(bed: Bed) -> None:
    nowhere(bed, "Host far", f" ProxyCommand {script(bed, 'echo the bastion is closed >&2; exit 1')} %r")
    place = bed.folder / "inventory.yaml"
    place.write_text("rackcheck: 1\nnodes: { n1: { host: far } }\n")
    (row,) = json.loads(rackcheck("inventory", "trust", "-i", place, "--json").out)["seen"]
    assert row["why"] == "the way to this host ended: the bastion is closed"


def test_a_command_of_a_match_that_hangs_is_named(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh_config, "PATIENCE", 1.0)
    bed.client(f'Match exec "{script(bed, "sleep 30")}"\n User nobody\n')
    target = ssh_config.resolve(Node("n1", host="far"), {})
    reply = ssh.run(target, SCRIPT, replace(LIMITS, deadline=2))
    assert (reply.cut.reason, reply.raw) == (Reason.TIMEOUT, b"")
    with pytest.raises(OSError, match="see `ssh -v far`: no answer within 2 s"):
        list(host_keys(target, replace(LIMITS, deadline=2)))
    left = subprocess.run(["pgrep", "-f", str(bed.folder / "way")], capture_output=True, text=True, check=False)
    assert left.stdout == ""


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
