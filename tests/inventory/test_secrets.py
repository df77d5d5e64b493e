"""Secrets by reference: fetched when needed, used, and not left in any file or output."""

import base64
import contextlib
import gzip
import http.server
import json
import os
import pty
import re
import secrets
import select
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from mockup_server import Mockup, certificate
from password_host import PasswordHost, login, password_host
from sshd import Server, serving

from rackcheck import inventory
from rackcheck.base.user_error import UserError
from rackcheck.inventory import BmcAccess, Node, Ssh
from rackcheck.model.fact import Plane, Reason
from rackcheck.run.job import Job
from rackcheck.session.secrets import secrets_of
from rackcheck.transport.ssh import run
from rackcheck.transport.ssh_config import Target, resolve
from rackcheck.transport.wire import ShellLimits

PROFILE = """\
rackcheck: 1
profile: both
version: 1
rules:
  os.linux: { fact: kernel.release, present: true }
  bmc.firmware: { each: firmware.component, fact: name, present: true }
"""


# A node whose SSH server requires a password: sshd would check this machine's accounts, which a test cannot create.


@pytest.mark.parametrize("takes", ["password", "password,keyboard-interactive", "keyboard-interactive"])
def test_a_password_opens_a_host_by_either_login_method(tmp_path: Path, takes: str) -> None:
    reply = login(tmp_path / "host", PasswordHost("sesame", takes), "sesame")
    assert (reply.reached, reply.raw) == (True, b"hello\n")


def test_keys_are_tried_before_the_password_and_a_password_alone_goes_alone(tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    both = PasswordHost("sesame", "publickey,password")
    assert login(tmp_path / "a", both, "sesame", str(key)).reached
    assert both.asked == ["key", "password"]
    alone = PasswordHost("sesame", "publickey,password")
    assert login(tmp_path / "b", alone, "sesame").reached
    assert alone.asked == ["password"]
    no_keys = PasswordHost("sesame", "password")
    assert login(tmp_path / "c", no_keys, "sesame", str(key)).reached


@pytest.mark.parametrize(
    ("host", "text"),
    [
        (PasswordHost("other"), "login as audit refused; tried the password"),
        (PasswordHost("sesame", "publickey"), "login as audit refused: this host accepts only publickey"),
        (
            PasswordHost("sesame", "keyboard-interactive", questions=2),
            "login as audit refused: this host accepts only keyboard-interactive",
        ),
    ],
)
def test_a_refused_password_is_denied_and_not_repeated(tmp_path: Path, host: PasswordHost, text: str) -> None:
    reply = login(tmp_path / "host", host, "sesame")
    assert not reply.reached
    assert (reply.cut.reason, reply.cut.detail) == (Reason.DENIED, text)


def locked(server: Server, words: str) -> str:
    """Encrypt the user's key of a server; returns the file."""
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", words, "-f", str(server.key)], check=True)
    return str(server.key)


def test_a_passphrase_opens_an_encrypted_key_and_a_wrong_or_missing_one_is_reported(tmp_path: Path) -> None:
    with serving(tmp_path / "sshd") as server:
        target = Target("127.0.0.1", server.port, "", (str(server.key),), (str(server.known_hosts),))
        assert run(replace(target, passphrase="not needed"), "echo a\n", ShellLimits()).reached
        locked(server, "sesame open")
        assert run(replace(target, passphrase="sesame open"), "echo a\n", ShellLimits()).raw == b"a\n"
        wrong = run(replace(target, passphrase="hunter2"), "echo a\n", ShellLimits())
        missing = run(target, "echo a\n", ShellLimits())
    assert "the passphrase does not decrypt this key" in wrong.cut.detail
    assert "encrypted: load it into an agent, or set ssh.passphrase" in missing.cut.detail
    assert {wrong.cut.reason, missing.cut.reason} == {Reason.DENIED}


# References.


NODE = Node(
    "n1",
    host="h",
    ssh=Ssh(password="env:SSH_PW", passphrase="env:KEY_PW"),
    bmc=BmcAccess("https://b", "root", "env:BMC_PW"),
)


def test_only_the_secrets_of_the_requested_planes_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSH_PW", "KEY_PW", "BMC_PW"):
        monkeypatch.setenv(name, f"the {name}")
    os_plane, bmc_plane = frozenset({Plane.OS}), frozenset({Plane.BMC})
    assert secrets_of([NODE], os_plane) == {"env:SSH_PW": "the SSH_PW", "env:KEY_PW": "the KEY_PW"}
    assert secrets_of([NODE], bmc_plane) == {"env:BMC_PW": "the BMC_PW"}
    assert set(secrets_of([NODE, NODE], os_plane | bmc_plane)) == {"env:SSH_PW", "env:KEY_PW", "env:BMC_PW"}
    local = Node("me", host="localhost", ssh=Ssh(password="env:NEVER_SET"))
    assert secrets_of([local], os_plane | bmc_plane) == {}
    target = resolve(NODE, secrets_of([NODE], os_plane))
    assert (target.password, target.passphrase) == ("the SSH_PW", "the KEY_PW")


def test_no_secret_stands_in_what_python_shows_of_our_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_PW", "hunter2")
    monkeypatch.setenv("KEY_PW", "hunter2")
    known = secrets_of([NODE], frozenset({Plane.OS}))
    job = Job(plan=None, nodes=(NODE,), secrets=known)  # type: ignore[arg-type]  # nothing is planned here
    assert "hunter2" not in repr(resolve(NODE, known)) + repr(job) + repr(NODE)


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("keyring:bmc", "written as keyring:SERVICE/USER"),
        ("keyring:/x", "written as keyring:SERVICE/USER"),
        ("env:EMPTY", "is empty"),
        ("prompt:BMC password", "no terminal to prompt for `BMC password`"),
        ("prompt:", "no terminal to prompt for `secret`"),
    ],
)
def test_an_unresolvable_reference_is_an_error_that_names_it(
    reference: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMPTY", "")
    asked = (
        "import sys; from rackcheck.inventory import secret; from rackcheck.base.user_error import UserError\n"
        "try: secret(sys.argv[1])\nexcept UserError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked, reference],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, start_new_session=True, check=True,
    )  # fmt: skip
    assert text in done.stdout


def test_a_keyring_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(UserError, match=r"pip install 'rackcheck\[keyring\]'"):
        inventory.secret("keyring:bmc/root")


def test_a_secret_s_file_is_a_file_of_its_owner_alone_and_of_few_bytes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "folder").mkdir(0o700)
    (tmp_path / "long").write_bytes(b"x" * (65 << 10))
    (tmp_path / "group").write_text("hunter2")
    for name, mode, output in (
        ("pipe", 0o600, "is not a file"), ("folder", 0o700, "Is a directory"), ("long", 0o600, "is longer than"),
        ("group", 0o640, "chmod 600"), ("none", 0, "cannot read"),
    ):  # fmt: skip
        if mode:
            (tmp_path / name).chmod(mode)
        with pytest.raises(UserError) as caught:
            inventory.secret(f"file:{tmp_path}/{name}")
        assert output in str(caught.value)
        assert "hunter2" not in str(caught.value)


# End to end: secrets are planted by every kind of reference, an audit runs, and its files are searched for them.


class Planted:
    """Secrets that resemble no other text, and every form in which one could have been written."""

    def __init__(self) -> None:
        kinds = ("env", "file", "keyring", "keyringphrase", "prompt", "refused", "echoed", "basic")
        self.words = {kind: f"Plt-{kind}-{secrets.token_hex(8)}" for kind in kinds}

    def __getitem__(self, kind: str) -> str:
        return self.words[kind]

    def found_in(self, data: bytes) -> list[str]:
        return [kind for kind, word in self.words.items() if any(form in data for form in _forms(word))]


def _forms(word: str) -> list[bytes]:
    raw = word.encode()
    # Base64 of a text that contains the word has one of three cores, depending on the word's offset.
    cores = [base64.b64encode(b"x" * skip + raw)[4:-4] for skip in range(3)]
    return [raw, raw.hex().encode(), raw[::-1], json.dumps(word)[1:-1].encode(), *cores]


def test_a_planted_secret_would_be_found_in_every_form() -> None:
    planted = Planted()
    word = planted["env"]
    for data in (
        f"x{word}y".encode(),
        base64.b64encode(f"root:{word}".encode()),
        base64.b64encode(f"me:{word}!".encode()),
        base64.b64encode(f"a:{word}".encode()),
        base64.b64encode(word.encode()),
        word.encode().hex().encode(),
    ):
        assert planted.found_in(data) == ["env"], data
    assert planted.found_in(b"nothing here") == []


class _Echo(http.server.BaseHTTPRequestHandler):
    """A BMC that echoes what it receives: the login's body, and where it has no sessions the Authorization header."""

    protocol_version = "HTTP/1.1"
    has_sessions = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's word
        pass

    def do_GET(self) -> None:
        shown = self.headers.get("Authorization", "")
        plain = base64.b64decode(shown.partition(" ")[2] or "").decode(errors="replace")
        if self.path.rstrip("/") == "/redfish/v1" and not shown:
            self._say(
                200, {"Chassis": {"@odata.id": "/redfish/v1/Chassis"}, "UpdateService": {"@odata.id": "/redfish/v1/U"}}
            )
        else:
            self._say(400, _parsed(f"bad header {shown} ({plain})"))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self._say(401 if self.has_sessions else 405, _parsed(f"no such login: {body}") if self.has_sessions else {})

    def _say(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _parsed(words: str) -> dict[str, Any]:
    return {"error": {"@Message.ExtendedInfo": [{"MessageId": "Base.1.0.X", "Message": words}], "code": words}}


class _EchoBasic(_Echo):
    has_sessions = False


@contextlib.contextmanager
def echoing(folder: Path, handler: type[_Echo]) -> Iterator[tuple[str, str]]:
    folder.mkdir()
    made = certificate(folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.file)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"https://127.0.0.1:{server.server_address[1]}", made.fingerprint
    finally:
        server.shutdown()
        server.server_close()


class Watched:
    """Repeatedly reads the command line of every process on this machine until the block ends."""

    def __init__(self) -> None:
        self.seen: set[bytes] = set()
        self.over = threading.Event()

    def __enter__(self) -> "Watched":
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()

    def _look(self) -> None:
        while not self.over.wait(0.005):
            for place in Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    self.seen.add(place.read_bytes())


@dataclass(frozen=True)
class Finished:
    status: int
    out: bytes
    err: bytes
    terminal: bytes


def at_a_terminal(folder: Path, words: list[str], env: dict[str, str], answer: str, seconds: float = 90) -> Finished:
    """Run a command with a terminal for its prompt, type one answer, and return all its output."""
    out, err = folder / "out", folder / "err"
    child, master = pty.fork()
    if child == 0:  # pragma: no cover  another process
        for number, place in ((1, out), (2, err)):
            os.dup2(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        os.chdir(folder)
        os.execve(words[0], words, env)
    shown, typed, until = b"", False, time.monotonic() + seconds
    while time.monotonic() < until:
        if select.select([master], [], [], 0.2)[0]:
            try:
                chunk = os.read(master, 4096)
            except OSError:
                break
            if not chunk:
                break
            shown += chunk
        if not typed and b"the typed one: " in shown:
            os.write(master, answer.encode() + b"\n")
            typed = True
    else:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(master)
    return Finished(os.waitstatus_to_exitcode(status), out.read_bytes(), err.read_bytes(), shown)


def written_below(*folders: Path) -> Iterator[tuple[Path, bytes]]:
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                data = path.read_bytes()
                yield path, str(path).encode() + b"\n" + (gzip.decompress(data) if path.suffix == ".gz" else data)


@dataclass
class Hall:
    """Everything that an audit reads and needs, and what it wrote."""

    folder: Path
    planted: Planted
    env: dict[str, str]

    @property
    def words(self) -> list[str]:
        return [
            sys.executable, "-m", "rackcheck", "audit", "-p", str(self.folder / "both.yaml"),
            "-i", str(self.folder / "inventory.yaml"), "-o", str(self.folder / "work" / "run"), "--timeout", "20",
        ]  # fmt: skip


@contextlib.contextmanager
def standing(folder: Path, *, loud: bool) -> Iterator[Hall]:
    """A hall of five nodes; if `loud`, some of them echo the secrets that they received."""
    planted = Planted()
    for name, mode in (("home", 0o755), ("work", 0o755), ("vault", 0o700)):
        (folder / name).mkdir(mode)
    (folder / "both.yaml").write_text(PROFILE)
    (folder / "vault" / "pw").write_text(planted["file"] + "\n")
    (folder / "vault" / "pw").chmod(0o600)
    env = {
        "PATH": os.environ["PATH"], "HOME": str(folder / "home"), "RACKCHECK_HOME": str(folder / "home" / "rackcheck"),
        "XDG_DATA_HOME": str(folder / "vault"), "XDG_CONFIG_HOME": str(folder / "vault"), "LANG": "C.UTF-8",
        "PYTHON_KEYRING_BACKEND": "keyrings.alt.file.PlaintextKeyring", "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "PW_ENV": planted["env"], "PW_REFUSED": planted["refused"], "PW_ECHOED": planted["echoed"],
        "PW_BASIC": planted["basic"],
    }  # fmt: skip
    keep = "import os, keyring\nfor user in ('bmc', 'key'): keyring.set_password('rack', user, os.environ[user])"
    kept = {"bmc": planted["keyring"], "key": planted["keyringphrase"]}
    subprocess.run([sys.executable, "-c", keep], check=True, env={**env, **kept})
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        by_file = enter(password_host(folder / "h1", PasswordHost(planted["file"], loud=loud)))
        by_prompt = enter(
            password_host(folder / "h2", PasswordHost(planted["prompt"], "keyboard-interactive", loud=loud))
        )
        refusing = enter(password_host(folder / "h3", PasswordHost("another")))
        by_key = enter(serving(folder / "h4"))
        key = locked(by_key, planted["keyringphrase"])
        tree: dict[str, object] = {"/redfish/v1": {"Name": "root"}}

        def bmc(password: str, echo: type[_Echo] | None = None) -> tuple[str, str]:
            if loud and echo is not None:
                return enter(echoing(folder / echo.__name__, echo))
            made = enter(Mockup(bodies=tree, password=password))
            return made.url, made.fingerprint

        def host(name: str, door: tuple[int, Path], ssh: str, bmc: tuple[str, str], reference: str) -> str:
            ways = f'port: {door[0]}, known-hosts: "{door[1]}", {ssh}'
            pinned = f'url: "{bmc[0]}", fingerprint: "{bmc[1]}"'
            return (
                f"  {name}: {{ host: 127.0.0.1, ssh: {{ {ways} }}, "
                f'bmc: {{ {pinned}, user: root, password: "{reference}" }} }}\n'
            )

        rows = (
            host("n1", by_file, f'password: "file:{folder}/vault/pw"', bmc(planted["env"]), "env:PW_ENV"),
            host("n2", by_prompt, 'password: "prompt:the typed one"', bmc(planted["keyring"]), "keyring:rack/bmc"),
            host("n3", refusing, 'password: "env:PW_REFUSED"', bmc("another"), "env:PW_REFUSED"),
            host(
                "n4", (by_key.port, by_key.known_hosts), f'key: "{key}", passphrase: "keyring:rack/key"',
                bmc(planted["echoed"], _Echo), "env:PW_ECHOED",
            ),
            host("n5", refusing, 'password: "env:PW_REFUSED"', bmc(planted["basic"], _EchoBasic), "env:PW_BASIC"),
        )  # fmt: skip
        (folder / "inventory.yaml").write_text("rackcheck: 1\nnodes:\n" + "".join(rows))
        yield Hall(folder, planted, env)


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    with standing(tmp_path, loud=False) as here:
        yield here


@pytest.fixture
def loud_hall(tmp_path: Path) -> Iterator[Hall]:
    with standing(tmp_path, loud=True) as here:
        yield here


def where_found(hall: Hall) -> dict[str, list[str]]:
    """The files of an audit that contain a secret, with the kinds of the secrets."""
    places = dict(written_below(hall.folder / "work", hall.folder / "home"))
    assert len([path for path in places if path.suffix == ".gz"]) >= 2
    return {str(path): found for path, data in places.items() if (found := hall.planted.found_in(data))}


def test_no_planted_secret_is_found_after_an_audit_that_used_every_one(hall: Hall) -> None:
    with Watched() as watched:
        done = at_a_terminal(hall.folder / "work", [*hall.words, "--json"], hall.env, hall.planted["prompt"])
    assert done.status == 3, done.err.decode()
    values = statuses(done)
    # The secrets were used: three hosts, each with another kind of secret, and four BMCs accepted the login.
    in_by = ["pass", "pass", "unknown", "pass", "unknown"]
    assert [values[name]["os.linux"] for name in ("n1", "n2", "n3", "n4", "n5")] == in_by
    assert b"login: HTTP 401" in done.err
    assert done.err.count(b"bmc plane") == 1
    assert done.terminal.count(b"the typed one: ") == 1
    assert any(b"rackcheck" in line for line in watched.seen)
    assert hall.planted.found_in(b"\n".join(watched.seen)) == []
    assert hall.planted.found_in(done.terminal) == []
    assert where_found(hall) == {}


def statuses(done: Finished) -> dict[str, dict[str, str]]:
    nodes = json.loads(done.out)["nodes"]
    return {name: {v["rule"]: v["status"] for v in node["verdicts"]} for name, node in nodes.items()}


def test_what_a_node_or_a_bmc_repeats_of_a_login_is_found_nowhere(loud_hall: Hall) -> None:
    done = at_a_terminal(
        loud_hall.folder / "work", [*loud_hall.words, "--json"], loud_hall.env, loud_hall.planted["prompt"]
    )
    assert done.status == 3, done.err.decode()
    assert b"no such login" in done.err
    assert b"bad header" in done.out
    assert statuses(done)["n1"]["os.linux"] == "pass"
    assert where_found(loud_hall) == {}


CRASH = """\
import sys
from rackcheck import cli
from rackcheck.transport import ssh_config
def broken(node, secrets):
    raise RuntimeError(f"broken at {node!r}")
if sys.argv[1] == "worker":
    ssh_config.resolve = broken
else:
    from rackcheck.session import audit_setup
    def dead(job, *rest):
        held = dict(job.secrets)
        raise RuntimeError(f"broken at {job!r}")
    audit_setup.audit = dead
sys.argv = ["rackcheck", *sys.argv[2:]]
cli.main()
"""


@pytest.mark.parametrize("where", ["worker", "run"])
def test_no_planted_secret_is_found_after_a_crash(hall: Hall, where: str) -> None:
    words = [sys.executable, "-c", CRASH, where, *hall.words[3:]]
    done = at_a_terminal(hall.folder / "work", words, hall.env, hall.planted["prompt"])
    assert b"broken at" in done.err + done.out
    if where == "run":
        assert b"rackcheck failed: RuntimeError" in done.err
    places = dict(written_below(hall.folder / "work", hall.folder / "home"))
    assert {str(path): found for path, data in places.items() if (found := hall.planted.found_in(data))} == {}
    assert hall.planted.found_in(done.terminal) == []


def test_a_prompt_is_shown_once_for_all_nodes_that_name_it(tmp_path: Path) -> None:
    asked = (
        "from rackcheck.session.secrets import secrets_of; from rackcheck.model.fact import Plane\n"
        "from rackcheck.inventory import Node, Ssh\n"
        "nodes = [Node(f'n{i}', host='h', ssh=Ssh(password='prompt:the typed one')) for i in range(3)]\n"
        "print(len(secrets_of(nodes, frozenset({Plane.OS}))['prompt:the typed one']))"
    )
    env = dict(os.environ)
    done = at_a_terminal(tmp_path, [sys.executable, "-c", asked], env, "hunter2")
    assert (done.status, done.out) == (0, b"7\n")
    assert done.terminal.count(b"the typed one: ") == 1
    assert not re.search(b"hunter2", done.terminal)
