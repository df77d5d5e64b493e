"""Transport to a node over SSH: one connection and one `sh -s`, with host-key check, deadline and size limit."""

import logging
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from getpass import getuser
from pathlib import Path
from typing import TYPE_CHECKING

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.secret_filter import Hiding
from rackcheck.transport import known_hosts, openssh
from rackcheck.transport.memory import Allowance
from rackcheck.transport.ssh_config import Target
from rackcheck.transport.wire import LARGE, CommandStream, ConnectStage, ShellLimits, ShellReply, drain, stamped

if TYPE_CHECKING:
    import paramiko

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # errors are in the reply, not on stderr

KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")
"""Key files that are tried if neither the inventory nor the SSH configuration names a key file."""


_UNLOCKING = threading.Lock()
"""A lock for the decryption of keys, so that several nodes with the same key decrypt the key only once."""


class _Refused(Exception):
    """A failed connection or login, with the reason and the stage of the connection."""

    def __init__(self, stage: ConnectStage, why: Unknown) -> None:
        super().__init__(str(why))
        self.stage, self.why = stage, why


@dataclass
class _Deadline:
    """Closes a connection from another thread at a deadline, because paramiko has no time limit for some stages."""

    seconds: float
    passed: bool = False

    def watch(self, transport: "paramiko.Transport") -> threading.Timer:
        def close() -> None:
            self.passed = True
            transport.close()

        timer = threading.Timer(self.seconds, close)
        timer.daemon = True
        timer.start()
        return timer


def run(target: Target, script: str, limits: ShellLimits, allowance: Allowance | None = None) -> ShellReply:
    """Run a script on a node; a failure is returned as the reply's reason. Credentials are removed from the reply.

    Without an allowance, the size limit is the only limit of the memory for the reply.
    """
    if target.needs:
        return openssh.run(target, script, limits, allowance)
    act = _Script(script, allowance or Allowance())
    return _hidden(target, lambda hiding: _run(target, limits, hiding, act))


def talk(target: Target, command: str, limits: ShellLimits, speak: Callable[[CommandStream], Unknown]) -> ShellReply:
    """Run a command on a node, and call `speak` with its stream; the function `speak` returns why the stream ended.

    The reply contains no raw output of the command, because `speak` has read this output.
    """
    if target.needs:
        return openssh.talk(target, command, limits, speak)
    return _hidden(target, lambda hiding: _run(target, limits, hiding, _Talk(command, speak)))


def _hidden(target: Target, ask: Callable[[Hiding], ShellReply]) -> ShellReply:
    hiding = Hiding(target.password)
    reply = ask(hiding)
    return replace(reply, raw=hiding.data(reply.raw), cut=replace(reply.cut, detail=hiding.text(reply.cut.detail)))


def _run(target: Target, limits: ShellLimits, hiding: Hiding, act: "_Script | _Talk") -> ShellReply:
    import paramiko  # noqa: PLC0415  a fifth of a second, only for runs over SSH

    def shown(error: object) -> str:
        return clean(hiding.text(str(error)))  # hide first: a shortened text may end inside a secret

    deadline = _Deadline(limits.deadline)
    try:
        sock = _connect(target, limits)
    except _Refused as refused:
        return ShellReply(b"", refused.why, refused.stage)
    stage = ConnectStage.HANDSHAKE
    try:
        transport = paramiko.Transport(sock)
    except (OSError, paramiko.SSHException) as error:
        sock.close()
        return ShellReply(b"", Unknown(Reason.UNREACHABLE, shown(error)), stage)
    transport.banner_timeout = transport.auth_timeout = limits.connect
    timer = deadline.watch(transport)
    try:
        _handshake(transport, target, limits)
        stage = ConnectStage.LOGIN
        _log_in(transport, target, hiding)
        return act(transport, limits, deadline, hiding)
    except _Refused as refused:
        return ShellReply(b"", refused.why, refused.stage)
    except (OSError, EOFError, paramiko.SSHException) as error:
        if deadline.passed:
            why = Unknown(Reason.TIMEOUT, f"no answer within {limits.deadline:g} s")
        elif isinstance(error, TimeoutError) or "banner" in str(error) or "timeout" in str(error).casefold():
            why = Unknown(Reason.TIMEOUT, f"the SSH handshake did not complete: {shown(error) or 'silence'}")
        else:
            why = Unknown(Reason.UNREACHABLE, shown(error) or type(error).__name__)
        return ShellReply(b"", why, stage)
    finally:
        timer.cancel()
        transport.close()


def _connect(target: Target, limits: ShellLimits) -> "socket.socket | paramiko.ProxyCommand":
    import paramiko  # noqa: PLC0415

    if target.proxy:
        return paramiko.ProxyCommand(target.proxy)
    where = f"{target.host} port {target.port}"
    try:
        return socket.create_connection((target.host, target.port), timeout=limits.connect)
    except TimeoutError:
        raise _Refused(ConnectStage.PORT, Unknown(Reason.TIMEOUT, f"{where} does not answer")) from None
    except socket.gaierror:
        raise _Refused(ConnectStage.NAME, Unknown(Reason.UNREACHABLE, f"no address for {target.host}")) from None
    except (OSError, UnicodeError, OverflowError) as error:
        value = getattr(error, "strerror", None) or str(error)
        raise _Refused(ConnectStage.PORT, Unknown(Reason.UNREACHABLE, f"{where}: {clean(value)}")) from None


def _handshake(transport: "paramiko.Transport", target: Target, limits: ShellLimits) -> None:
    """Perform the SSH handshake, and check the host key before credentials or scripts are sent."""
    trusted = known_hosts.load(target.known_hosts)
    keys = trusted.keys(target.alias or target.host, target.port)
    options = transport.get_security_options()
    # Request the known key type first: a host with several keys then presents that type.
    wanted = [k for k in options.key_types if plain_kind(k) in keys]
    options.key_types = [*wanted, *(k for k in options.key_types if k not in wanted)]
    transport.start_client(timeout=limits.connect)
    if not transport.initial_kex_done:  # paramiko raises nothing when its wait ends
        message = f"the SSH handshake did not complete within {limits.connect:g} s"
        raise _Refused(ConnectStage.HANDSHAKE, Unknown(Reason.TIMEOUT, message))
    shown = transport.get_remote_server_key()
    key, mark = shown.get_base64(), known_hosts.fingerprint(shown.get_base64())
    if key in trusted.revoked:
        raise _Refused(ConnectStage.KEY, Unknown(Reason.HOST_KEY_CHANGED, f"the key {mark} is marked as revoked"))
    if not keys:
        how = f"ssh-keyscan -p {target.port} {target.host} >> ~/.ssh/known_hosts"
        message = f"no key of this host is known; it presents {mark}. Check it, then: {how}"
        raise _Refused(ConnectStage.KEY, Unknown(Reason.HOST_KEY_CHANGED, message))
    if key not in set().union(*keys.values()):
        known = ", ".join(sorted(known_hosts.fingerprint(k) for found in keys.values() for k in found))
        raise _Refused(ConnectStage.KEY, Unknown(Reason.HOST_KEY_CHANGED, f"expected {known}, found {mark}"))


def connected(target: Target, limits: ShellLimits) -> "socket.socket | paramiko.ProxyCommand":
    """Connect to an SSH server, directly or through its proxy; raises OSError with the reason if this fails."""
    try:
        return _connect(target, limits)
    except _Refused as refused:
        raise OSError(None, str(refused.why)) from None


def fingerprint(key: "paramiko.PKey") -> str:
    """Return the fingerprint of a host key as ssh-keygen -l prints it."""
    return known_hosts.fingerprint(key.get_base64())


def plain_kind(kind: str) -> str:
    """Return the kind of a host key without the digest of its signature: `ssh-rsa` for `rsa-sha2-512`."""
    return "ssh-rsa" if kind.startswith("rsa-sha2-") else kind


def _log_in(transport: "paramiko.Transport", target: Target, hiding: Hiding) -> None:
    """Log in with the keys, then with the password; raises _Refused if the host accepts none of them."""
    import paramiko  # noqa: PLC0415

    user = target.user or getuser()
    tried: list[str] = []
    for name, key in _keys(target, tried):
        if not transport.is_active():
            break
        try:
            transport.auth_publickey(user, key)
        except paramiko.BadAuthenticationType as error:
            if target.password:
                break
            raise _refused_type(user, error, hiding) from None
        except paramiko.AuthenticationException:
            tried.append(name)
            continue
        if transport.is_authenticated():
            return
        tried.append(f"{name} (not sufficient alone)")
    if target.password and transport.is_active():
        try:
            # If the host has no password authentication but prompts for one, paramiko answers a single prompt with it.
            transport.auth_password(user, target.password)
        except paramiko.BadAuthenticationType as error:
            raise _refused_type(user, error, hiding) from None
        except paramiko.AuthenticationException:
            tried.append("the password")
        else:
            if transport.is_authenticated():
                return
            tried.append("the password (not sufficient alone)")
    what = ", ".join(tried) if tried else "no key found"
    raise _Refused(ConnectStage.LOGIN, Unknown(Reason.DENIED, f"login as {user} refused; tried {what}"))


def _refused_type(user: str, error: "paramiko.BadAuthenticationType", hiding: Hiding) -> _Refused:
    message = clean(hiding.text(", ".join(error.allowed_types)))
    return _Refused(
        ConnectStage.LOGIN, Unknown(Reason.DENIED, f"login as {user} refused: this host accepts only {message}")
    )


def _keys(target: Target, tried: list[str]) -> "list[tuple[str, paramiko.PKey]]":
    """Return the keys for the login: the configured keys, or else the agent's keys and the default key files.

    If a password is set but no key is configured, no keys are returned. Key files that cannot be used are added to
    `tried`.
    """
    import paramiko  # noqa: PLC0415

    found: list[tuple[str, paramiko.PKey]] = []
    if target.password and not target.keys:
        return found  # a host counts refused keys: a full agent would leave no attempt for the password
    if not target.keys:
        found += [(f"agent {key.get_name()}", key) for key in paramiko.Agent().get_keys()]
    for path in target.keys or tuple(str(Path("~/.ssh") / name) for name in KEYS):
        file = Path(path).expanduser()
        try:
            if file.is_file():
                found.append((str(path), _key(str(file), target.passphrase)))
        except (OSError, ValueError, TypeError, paramiko.SSHException) as error:
            # An encrypted key needs the agent or the inventory: no user can type a passphrase on 64 nodes.
            tried.append(f"{path} ({_unopened(error, target)})")
    return found


def _unopened(error: Exception, target: Target) -> str:
    """Return why a key file cannot be used, from the exception; encrypted files lead to several types of exceptions."""
    if isinstance(error, TypeError):
        return "encrypted: load it into an agent, or set ssh.passphrase"
    if isinstance(error, ValueError) and target.passphrase:
        return "the passphrase does not decrypt this key"
    return clean(str(error)) or type(error).__name__


def _key(file: str, passphrase: str) -> "paramiko.PKey":
    import paramiko  # noqa: PLC0415

    if passphrase:
        with suppress(TypeError), _UNLOCKING:  # TypeError: this key is not encrypted
            return _unlocked(file, passphrase)
    return paramiko.PKey.from_path(file)


@lru_cache(maxsize=16)
def _unlocked(file: str, passphrase: str) -> "paramiko.PKey":
    """Decrypt a key; the result is cached for all nodes, because decryption is slow by design."""
    import paramiko  # noqa: PLC0415

    # paramiko passes this to cryptography, which needs bytes, although paramiko's type hints differ.
    return paramiko.PKey.from_path(file, passphrase.encode())  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Script:
    """Sends a script to the node's shell, and reads the output of the script to the end."""

    text: str
    allowance: Allowance

    def __call__(
        self, transport: "paramiko.Transport", limits: ShellLimits, deadline: _Deadline, hiding: Hiding
    ) -> ShellReply:
        channel = transport.open_session(timeout=limits.connect)
        channel.settimeout(limits.deadline)
        self.allowance.until = time.monotonic() + limits.deadline
        channel.exec_command("sh -s")
        complaints = _Complaints(channel)
        try:
            channel.sendall(stamped(self.text).encode())
            channel.shutdown_write()
            raw, stopped = drain(channel.recv, limits.cap, self.allowance)
        except OSError as error:
            raw, stopped = b"", f"the connection broke: {error}"
        if isinstance(stopped, Unknown):
            return ShellReply(raw, stopped)
        if stopped == LARGE:
            return ShellReply(raw, Unknown(Reason.TOO_LARGE, f"more than {limits.cap} bytes"))
        if deadline.passed:
            return ShellReply(raw, Unknown(Reason.TIMEOUT, f"not finished within {limits.deadline:g} s"))
        message = "" if raw else complaints.last(hiding)
        return ShellReply(
            raw, Unknown(Reason.UNREACHABLE, clean(f"{stopped}; it printed: {message}" if message else stopped))
        )


@dataclass(frozen=True)
class _Talk:
    """Runs a command on a node, and calls `speak` with the command's input and output stream."""

    command: str
    speak: Callable[[CommandStream], Unknown]

    def __call__(
        self, transport: "paramiko.Transport", limits: ShellLimits, deadline: _Deadline, hiding: Hiding
    ) -> ShellReply:
        channel = transport.open_session(timeout=limits.connect)
        channel.exec_command(self.command)
        why = self.speak(_Channel(channel, _Complaints(channel), hiding))
        if deadline.passed:
            why = Unknown(Reason.TIMEOUT, f"not finished within {limits.deadline:g} s")
        return ShellReply(b"", why)


class _Channel:
    """A stream over SSH; `wire.CommandStream` documents its methods."""

    def __init__(self, channel: "paramiko.Channel", complaints: "_Complaints", hiding: Hiding) -> None:
        self._channel, self._complaints, self._hiding = channel, complaints, hiding

    def send(self, data: bytes, seconds: float) -> None:
        self._channel.settimeout(seconds)
        self._channel.sendall(data)

    def receive(self, seconds: float) -> bytes | None:
        self._channel.settimeout(seconds)
        try:
            return self._channel.recv(1 << 16)
        except TimeoutError:
            return None

    def finish(self) -> None:
        with suppress(OSError):
            self._channel.shutdown_write()

    def close(self) -> None:
        self._channel.close()

    def ended(self) -> tuple[int | None, str]:
        status = self._channel.recv_exit_status() if self._channel.exit_status_ready() else None
        return status, self._complaints.last(self._hiding)


class _Complaints:
    """Reads standard error in parallel, because unread data would fill the SSH window; only the end is kept."""

    def __init__(self, channel: "paramiko.Channel") -> None:
        self._channel, self._end = channel, b""
        self._thread = threading.Thread(target=self._read, daemon=True, name="complaints")
        self._thread.start()

    def _read(self) -> None:
        with suppress(OSError):
            while chunk := self._channel.recv_stderr(1 << 16):
                self._end = (self._end + chunk)[-4096:]

    def last(self, hiding: Hiding) -> str:
        """Return the end of the last line of standard error; secrets are removed before the line is shortened."""
        self._thread.join(timeout=1.0)
        lines = hiding.data(self._end).decode("utf-8", "replace").strip().splitlines()
        return clean(lines[-1][-200:]) if lines else ""
