"""A real OpenSSH server on loopback for the tests, with its own keys and a log for counting."""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from waiting import until

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def needed() -> str:
    """Return sshd's path; without one, skip with a message, or fail in CI."""
    if SSHD is None or shutil.which("ssh-keygen") is None:
        if os.environ.get("CI"):
            pytest.fail("CI has no sshd: .ci/run must install openssh-server")
        pytest.skip("NO REAL SSH SERVER HERE: install openssh-server to run this test")
    return SSHD


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def keygen(path: Path, kind: str = "ed25519") -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(path)], check=True)
    return path


@dataclass(frozen=True)
class Server:
    """A running server: its address, its keys, its log."""

    port: int
    folder: Path
    key: Path
    known_hosts: Path

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    @property
    def connections(self) -> int:
        return self.log.count("Accepted publickey for")

    @property
    def execs(self) -> int:
        return self.log.count("Starting session: ")

    def inventory(self, name: str = "n1", **ssh: str) -> str:
        """An inventory of one node that is this server."""
        values = {"port": str(self.port), "key": str(self.key), "known-hosts": str(self.known_hosts)} | ssh
        inner = ", ".join(f'{k}: "{v}"' for k, v in values.items())
        return f"rackcheck: 1\nnodes:\n  {name}: {{ host: 127.0.0.1, ssh: {{ {inner} }} }}\n"


@contextmanager
def serving(folder: Path, *, force: str = "", more: Callable[[Path], Sequence[str]] = lambda _: ()) -> Iterator[Server]:
    """Run a server until the block ends; `force` is a command that it runs instead of the client's.

    `more` gets the folder, in which `host.pub` is the server's own key, and returns more lines of its configuration.
    """
    sshd = needed()
    folder.mkdir(parents=True, exist_ok=True)
    host_key, key = keygen(folder / "host"), keygen(folder / "user")
    (folder / "authorized_keys").write_text((folder / "user.pub").read_text())
    port = free_port()
    kind, public, *_ = (folder / "host.pub").read_text().split()
    known = folder / "known_hosts"
    known.write_text(f"[127.0.0.1]:{port} {kind} {public}\n")
    config = [
        f"Port {port}", "ListenAddress 127.0.0.1", f"HostKey {host_key}", f"PidFile {folder / 'pid'}",
        f"AuthorizedKeysFile {folder / 'authorized_keys'}", "StrictModes no", "UsePAM no", "PermitRootLogin yes",
        "PasswordAuthentication no", "KbdInteractiveAuthentication no", "LogLevel VERBOSE", "MaxStartups 100",
    ]  # fmt: skip
    if force:
        config.append(f"ForceCommand {force}")
    lines = [*more(folder)]
    given = {line.split()[0] for line in lines}
    lines += [line for line in config if line.split()[0] not in given]
    (folder / "config").write_text("\n".join(lines) + "\n")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    process = subprocess.Popen([sshd, "-D", "-f", str(folder / "config"), "-E", str(folder / "log")])
    try:
        _wait(port, process)
        yield Server(port, folder, key, known)
    finally:
        process.terminate()
        process.wait(10)


def _wait(port: int, process: "subprocess.Popen[bytes]") -> None:
    def listening() -> bool:
        assert process.poll() is None, "sshd ended at once"
        with socket.socket() as sock:
            return sock.connect_ex(("127.0.0.1", port)) == 0

    until(listening, "sshd does not listen")
