"""Transport to a node over SSH by libssh2 (`pip install rackcheck[libssh2]`): as `ssh`, with less CPU time.

It is used for nodes that are reached directly, or through one command, with an unencrypted key file. Everything else is
left to paramiko and to the OpenSSH client, also a node that refuses the key file while an agent has other keys.
"""

import base64
import math
import os
import select
import socket
import time
from collections.abc import Callable, Generator
from functools import cache
from getpass import getuser
from importlib import import_module
from pathlib import Path
from typing import Any

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.regex import regex
from rackcheck.transport import key_files
from rackcheck.transport.deadline import Deadline
from rackcheck.transport.memory import Allowance
from rackcheck.transport.socket_loop import READ, WRITE, SocketLoop, Wait
from rackcheck.transport.ssh_config import Target
from rackcheck.transport.ssh_connection import ProxySocket, Refused, TrustedKeys, connect, plain_kind
from rackcheck.transport.wire import LARGE, ConnectStage, ShellLimits, ShellReply, drain, stamped

CHOICE = "RACKCHECK_SSH"
"""The environment variable that chooses the library: `paramiko` does without libssh2."""

AGAIN = -37
"""What a call of libssh2 returns if it would have to wait (`LIBSSH2_ERROR_EAGAIN`)."""

OUTBOUND = 2
"""The bit of a session that waits to write (`LIBSSH2_SESSION_BLOCK_OUTBOUND`)."""

METHODS = ("KEX", "CRYPT_CS", "CRYPT_SC", "MAC_CS", "MAC_SC")

WEAK = regex(r"\Adiffie-hellman-.*-sha1\Z|-cbc|arcfour|md5|ripemd|-96\Z")
"""Algorithms of libssh2 that `ssh` does not use unless its configuration names them."""

CHUNK = 1 << 16
"""Number of bytes that libssh2 reads or writes at once."""

PART = 4 * CHUNK
"""Number of bytes after which the loop passes output on: its memory is not counted before that."""

KEPT = 4096
"""Number of bytes that are kept of the end of standard error."""


class Unsupported(Exception):
    """Raised if a server needs what only paramiko does here, before a script is sent to it.

    It has no algorithms in common with libssh2, or it refuses the key files and an agent has other keys.
    """


def is_usable(target: Target) -> bool:
    """Whether this library can log in to a server: it has a key file that needs neither a passphrase nor an agent."""
    if target.needs or target.password or target.passphrase or os.environ.get(CHOICE) == "paramiko":
        return False
    return _library() is not None and any(key_files.read(key).is_plain for key in target.keys)


def run(target: Target, script: str, limits: ShellLimits, allowance: Allowance) -> ShellReply:
    """Run a script on a node; a failure is returned as the reply's reason. Raises Unsupported."""
    try:
        sock = connect(target, limits)
    except Refused as refused:
        return ShellReply(b"", refused.why, refused.stage)
    deadline = Deadline(limits.deadline, lambda: _shut(sock))
    library = _library()
    visit = _Visit(library.session.Session(), sock, target, limits)
    try:
        return _run(visit, script, allowance, deadline)
    except Refused as refused:
        return ShellReply(b"", _late(limits) if deadline.passed else refused.why, refused.stage)
    except (library.exceptions.SSH2Error, OSError) as error:
        complaint = _complaint_of(sock, visit)
        if deadline.passed:
            why = _late(limits)
        elif complaint:
            why = Unknown(Reason.UNREACHABLE, f"the way to this host ended: {complaint}")
        elif isinstance(error, library.exceptions.Timeout | TimeoutError):
            why = Unknown(Reason.TIMEOUT, f"the SSH {visit.phase} did not complete within {limits.connect:g} s")
        elif visit.stage is ConnectStage.HANDSHAKE and isinstance(error, library.unsupported):
            why = None
        else:
            why = Unknown(Reason.UNREACHABLE, f"the SSH {visit.phase} failed: {visit.error(error)}")
    finally:
        deadline.cancel()
        # libssh2 uses the number of the socket when it frees a session: another thread may have it after `close`.
        _shut(sock)
        visit.free()
        sock.close()
    if why is None:  # raised here, so that it does not hold the error above
        raise Unsupported
    return ShellReply(b"", why, visit.stage)


def _complaint_of(sock: socket.socket, visit: "_Visit") -> str:
    """Close the connection of a proxy, and return what its command printed if it has ended by itself."""
    if not isinstance(sock, ProxySocket):
        return ""
    _shut(sock)
    visit.free()
    sock.close()
    return sock.complaint


def _late(limits: ShellLimits) -> Unknown:
    return Unknown(Reason.TIMEOUT, f"no answer within {limits.deadline:g} s")


def _run(visit: "_Visit", script: str, allowance: Allowance, deadline: Deadline) -> ShellReply:
    limits = visit.limits

    def started() -> Steps:
        allowance.until = time.monotonic() + limits.deadline
        return visit.started("sh -s", stamped(script).encode())

    if not visit.log_in(lambda: started() if allowance.try_admit() else None):
        visit.stage = ConnectStage.SCRIPT
        with deadline.paused():
            refused = allowance.admit()
        if refused is not None:
            return ShellReply(b"", refused)
        visit.start(started())
    raw, stopped = drain(visit.receive, limits.cap, allowance)
    if isinstance(stopped, Unknown):
        return ShellReply(raw, stopped)
    if stopped == LARGE:
        return ShellReply(raw, Unknown(Reason.TOO_LARGE, f"more than {limits.cap} bytes"))
    if deadline.passed:
        return ShellReply(raw, Unknown(Reason.TIMEOUT, f"not finished within {limits.deadline:g} s"))
    message = "" if raw else visit.complaint
    return ShellReply(
        raw, Unknown(Reason.UNREACHABLE, clean(f"{stopped}; it printed: {message}" if message else stopped))
    )


Steps = Generator[Wait, None, bytes]
"""What is done after a login; returns the first part of the output of a command."""


class _Visit:
    """A session with one server, and the stage that it has reached."""

    def __init__(self, session: Any, sock: socket.socket, target: Target, limits: ShellLimits) -> None:
        self.session, self.sock, self.target, self.limits = session, sock, target, limits
        self.stage = ConnectStage.HANDSHAKE
        self.channel: Any = None
        self._errors = self._part = b""
        self._failure: Exception | None = None
        self._is_over = False
        session.set_blocking(False)

    @property
    def phase(self) -> str:
        """The part of the connection that the stage stands for, as a word for messages."""
        return "session" if self.stage is ConnectStage.SCRIPT else self.stage.value

    def log_in(self, then: Callable[[], Steps | None]) -> bool:
        """Perform the SSH handshake, check the host key, log in with the key files, and start what `then` returns.

        Return whether it was started: `then`, which must not wait, may return None. Everything is done in one turn of
        the loop, as another one costs a tenth of the time of a host. Raises Refused if the host key is not trusted or
        no key file is accepted, Unsupported if an agent has more keys.
        """
        user = self.target.user or getuser()
        tried = _sockets.run(self.sock, self._log_in(user, then))
        if tried is None:
            return self.stage is ConnectStage.SCRIPT
        try:
            more = _agent_has_more(self.target, self.limits.connect)
        except OSError as error:
            tried.append(f"the agent ({clean(str(error)) or type(error).__name__})")
        else:
            if more:
                raise Unsupported
        what = ", ".join(tried) if tried else "no key found"
        raise Refused(ConnectStage.LOGIN, Unknown(Reason.DENIED, f"login as {user} refused; tried {what}"))

    def start(self, steps: Steps) -> None:
        """Start a command after the login."""
        self._part = _sockets.run(self.sock, steps)

    def receive(self, _: int) -> bytes:
        """Read a part of the output of the command; wait for it, and return nothing at its end. Raises OSError."""
        part, self._part = self._part, b""
        if not part and not self._is_over:
            part = _sockets.run(self.sock, self._read())
        if not part and self._failure is not None:
            raise OSError(None, self.error(self._failure))
        return part

    def _log_in(self, user: str, then: Callable[[], Steps | None]) -> Generator[Wait, None, list[str] | None]:
        """Return the key files that were tried in vain, None after a login.

        The host key is checked before credentials are sent.
        """
        session, target = self.session, self.target
        known = TrustedKeys.of(target)
        for method, names in (*_strong(), _host_keys(frozenset(known.keys))):
            session.method_pref(method, names)
        yield from self._done(session.handshake, self.sock)
        known.check(base64.b64encode(session.hostkey()[0]).decode())
        self.stage = ConnectStage.LOGIN
        wrong = _library().exceptions
        tried: list[str] = []
        attempts = 0
        for path in target.keys:
            key = key_files.read(path)
            if not key.is_plain:
                if key.has_private:
                    tried.append(f"{path} (encrypted: load it into an agent, or set ssh.passphrase)")
                continue
            try:
                yield from self._done(session.userauth_publickey_fromfile, user, str(Path(path).expanduser()))
            except (wrong.AuthenticationError, wrong.PublickeyUnverifiedError, wrong.FileError, wrong.PublicKeyError):
                # libssh2 has the same error for a connection that ended before the answer, which is no refusal.
                if not attempts and _has_ended(self.sock):
                    raise ConnectionError("the connection ended") from None
                tried.append(str(path))
            else:
                if session.userauth_authenticated():
                    steps = then()
                    if steps is not None:
                        self.stage = ConnectStage.SCRIPT
                        self._part = yield from steps
                    return None
                tried.append(f"{path} (not sufficient alone)")
            attempts += 1
        return tried

    def started(self, command: str, data: bytes) -> Steps:
        """Start a command, write its input, and return the first part of its output."""
        self.channel = yield from self._done(self.session.open_session)
        yield from self._done(self.channel.execute, command)
        at = 0
        while at < len(data):
            # First, for this may receive what a write waits for; the socket would not be ready for it again.
            self._drop_errors()
            status, count = self.channel.write(data[at : at + CHUNK])
            at += count
            if status < 0 or not count:
                yield self._blocked, math.inf
        while self.channel.send_eof() < 0:
            yield self._blocked, math.inf
        return (yield from self._read())

    def _read(self) -> Generator[Wait, None, bytes]:
        """Return a part of the output of the command, nothing at its end or after a failure."""
        part = bytearray()
        while len(part) < PART and not self._is_over:
            try:
                status, data = self.channel.read(CHUNK)
                if status > 0:
                    part += data
                    continue
                self._drop_errors()
                self._is_over = self.channel.eof()
                # This may have received output, for which the socket would not be ready again.
                waits = not self._is_over and not self.channel.poll_channel_read(0)
            except _library().exceptions.SSH2Error as error:
                self._failure, self._is_over, waits = error, True, False
            if waits:
                yield self._blocked, math.inf
        return bytes(part)

    def _done(self, call: Callable[..., Any], *words: object) -> Generator[Wait, None, Any]:
        """Repeat a call of libssh2 until it does not return that it would have to wait."""
        until = time.monotonic() + self.limits.connect
        while (result := call(*words)) == AGAIN:
            yield self._blocked, until
        return result

    @property
    def _blocked(self) -> int:
        """What libssh2 waits for; it can always read, so that a socket that was shut down is noticed."""
        return READ | WRITE if self.session.block_directions() & OUTBOUND else READ

    @property
    def complaint(self) -> str:
        """The end of the last line of standard error."""
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        return clean(lines[-1][-200:]) if lines else ""

    def error(self, error: Exception) -> str:
        """Return what libssh2 reports about an error."""
        text = str(error) if self.session is None or isinstance(error, OSError) else self.session.last_error()
        return clean(text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text or type(error).__name__))

    def free(self) -> None:
        """Free the session; the socket must be shut down, so that libssh2 cannot send anything more."""
        self.channel = None
        self.session = None

    def _drop_errors(self) -> None:
        """Read standard error, whose data would fill the SSH window; only the end is kept."""
        while True:
            status, data = self.channel.read_stderr(CHUNK)
            if status <= 0:
                return
            self._errors = (self._errors + data)[-KEPT:]


_sockets = SocketLoop()
"""Waits for all connections of this process."""


@cache
def _strong() -> tuple[tuple[int, str], ...]:
    """Return the algorithms that are used, by method, in the order of libssh2."""
    library = _library().session
    session = library.Session()
    methods = (getattr(library, f"LIBSSH2_METHOD_{name}") for name in METHODS)
    return tuple(
        (method, ",".join(name for name in session.supported_algs(method) if not WEAK.search(name)))
        for method in methods
    )


@cache
def _host_keys(known: frozenset[str]) -> tuple[int, str]:
    """Return the method and its algorithms: first those of the known types, of which a host with several presents one.

    `known` are types of keys without the digests of their signatures.
    """
    library = _library().session
    method = library.LIBSSH2_METHOD_HOSTKEY
    every = library.Session().supported_algs(method)
    return method, ",".join(sorted(every, key=lambda kind: plain_kind(kind) not in known))


def _shut(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it is not connected any more


def _has_ended(sock: socket.socket) -> bool:
    """Whether the other end has closed the connection, or it has failed; does not wait."""
    ready = select.poll()
    ready.register(sock, select.POLLIN)
    try:
        return bool(ready.poll(0)) and not sock.recv(1, socket.MSG_PEEK)
    except OSError:
        return True


def _agent_has_more(target: Target, seconds: float) -> bool:
    """Whether the agent has a key for this server that is not one of the files that were tried; raises OSError."""
    from rackcheck.transport import ssh_agent  # noqa: PLC0415  it imports paramiko, which then logs in

    readable = {file.public for file in map(key_files.read, target.keys) if file.is_plain}
    return any(key.blob not in readable for key in ssh_agent.keys(target, seconds))


class _Library:
    """The modules of ssh2-python, and its errors for which paramiko is tried."""

    def __init__(self) -> None:
        self.session: Any = import_module("ssh2.session")
        self.exceptions: Any = import_module("ssh2.exceptions")
        wrong = self.exceptions
        self.unsupported = (
            wrong.KexFailureError, wrong.KeyExchangeError, wrong.MethodNoneError, wrong.MethodNotSupported,
            wrong.HostkeyInitError, wrong.AlgoUnsupportedError,
        )  # fmt: skip


@cache
def _library() -> Any:
    """Return the library; None if it is not installed."""
    try:
        return _Library()
    except ImportError:
        return None
