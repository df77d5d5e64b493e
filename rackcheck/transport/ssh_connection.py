"""Connects to an SSH server: directly, or through the command of a proxy."""

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import IO, Self

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.transport import known_hosts
from rackcheck.transport.ssh_config import Target
from rackcheck.transport.wire import ConnectStage, ShellLimits


class Refused(Exception):
    """A failed connection or login, with the reason and the stage of the connection."""

    def __init__(self, stage: ConnectStage, why: Unknown) -> None:
        super().__init__(str(why))
        self.stage, self.why = stage, why


def connect(target: Target, limits: ShellLimits) -> socket.socket:
    """Connect to a node's SSH server; raises Refused with the stage and the reason."""
    if target.proxy:
        try:
            return ProxySocket.run(target.proxy)
        except OSError as error:
            why = Unknown(Reason.UNREACHABLE, f"the command of the proxy cannot be started: {clean(str(error))}")
            raise Refused(ConnectStage.PORT, why) from None
    where = f"{target.host} port {target.port}"
    try:
        return socket.create_connection((target.host, target.port), timeout=limits.connect)
    except TimeoutError:
        raise Refused(ConnectStage.PORT, Unknown(Reason.TIMEOUT, f"{where} does not answer")) from None
    except socket.gaierror:
        raise Refused(ConnectStage.NAME, Unknown(Reason.UNREACHABLE, f"no address for {target.host}")) from None
    except (OSError, UnicodeError, OverflowError) as error:
        value = getattr(error, "strerror", None) or str(error)
        raise Refused(ConnectStage.PORT, Unknown(Reason.UNREACHABLE, f"{where}: {clean(value)}")) from None


def connected(target: Target, limits: ShellLimits) -> socket.socket:
    """Connect to an SSH server, directly or through its proxy; raises OSError with the reason if this fails."""
    try:
        return connect(target, limits)
    except Refused as refused:
        raise OSError(None, str(refused.why)) from None


def plain_kind(kind: str) -> str:
    """Return the kind of a host key without the digest of its signature: `ssh-rsa` for `rsa-sha2-512`."""
    return "ssh-rsa" if kind.startswith("rsa-sha2-") else kind


@dataclass(frozen=True, slots=True)
class TrustedKeys:
    """The trusted keys of a server as base64 text by key type, and all keys that are revoked."""

    keys: Mapping[str, Set[str]]
    revoked: Set[str]
    server: str

    @classmethod
    def of(cls, target: Target) -> Self:
        """Read the known_hosts files of a server, unless they are as they were read before."""
        found = known_hosts.load(target.known_hosts)
        keys = found.keys(target.alias or target.host, target.port)
        return cls(keys, found.revoked, f"-p {target.port} {target.host}")

    def check(self, key: str) -> None:
        """Raise Refused unless the key that the server presents, as base64 text, is trusted."""
        mark = known_hosts.fingerprint(key)
        if key in self.revoked:
            why = f"the key {mark} is marked as revoked"
        elif not self.keys:
            how = f"ssh-keyscan {self.server} >> ~/.ssh/known_hosts"
            why = f"no key of this host is known; it presents {mark}. Check it, then: {how}"
        elif key not in set().union(*self.keys.values()):
            known = ", ".join(sorted(known_hosts.fingerprint(k) for found in self.keys.values() for k in found))
            why = f"expected {known}, found {mark}"
        else:
            return
        raise Refused(ConnectStage.KEY, Unknown(Reason.HOST_KEY_CHANGED, why))


END = 0.3
"""Seconds until a command is killed after its connection has ended."""

KEPT = 4096
"""Number of bytes that are read of the end of standard error."""


class ProxySocket(socket.socket):
    """A socket whose other end is standard input and output of a command; the command ends when it is closed.

    `complaint` is the last line of standard error of a command that ended by itself; it is set when the socket is
    closed. paramiko's own class reads pipes with `select`, which fails for file numbers above 1,023.
    """

    complaint = ""

    @classmethod
    def run(cls, command: str) -> Self:
        """Start a command in the user's shell, as the OpenSSH client does; raises OSError if it cannot be started."""
        ours, theirs = socket.socketpair()
        made = cls(ours.family, ours.type, ours.proto, ours.detach())
        with theirs, contextlib.ExitStack() as failed:
            failed.callback(made.close)
            made._errors = tempfile.TemporaryFile()  # noqa: SIM115  a pipe would fill if nobody read it
            # A new session has no terminal from which a password could be read.
            made._command = subprocess.Popen(  # noqa: S603  the user's own ProxyCommand or jump host
                [os.environ.get("SHELL") or "/bin/sh", "-c", f"exec {command}"],
                stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=made._errors, start_new_session=True,
            )  # fmt: skip
            failed.pop_all()
        return made

    def __init__(self, family: int, kind: int, protocol: int, file: int) -> None:
        super().__init__(family, kind, protocol, file)
        self._command: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._closing = threading.Lock()

    def close(self) -> None:
        """Close the socket, and end the command with its processes; several threads may close it."""
        super().close()
        with self._closing:
            command, self._command = self._command, None
            if command is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    command.wait(END)
                if command.returncode and self._errors is not None:
                    self.complaint = _last_line(self._errors) or f"exit status {command.returncode}"
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(command.pid, signal.SIGKILL)
                command.wait()
            errors, self._errors = self._errors, None
            if errors is not None:
                errors.close()


def _last_line(file: IO[bytes]) -> str:
    file.seek(max(0, os.fstat(file.fileno()).st_size - KEPT))
    lines = file.read(KEPT).decode("utf-8", "replace").strip().splitlines()
    return clean(lines[-1][-200:]) if lines else ""
