"""Transport to a node over SSH: one connection and one `sh -s`, with host-key check, deadline and size limit."""

import logging
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.secret_filter import Hiding
from rackcheck.transport import known_hosts, libssh2, openssh
from rackcheck.transport.deadline import Deadline
from rackcheck.transport.memory import Allowance
from rackcheck.transport.ssh_config import Target
from rackcheck.transport.ssh_connection import ProxySocket, Refused, TrustedKeys, connect, plain_kind
from rackcheck.transport.ssh_login import log_in
from rackcheck.transport.wire import LARGE, CommandStream, ConnectStage, ShellLimits, ShellReply, drain, stamped

if TYPE_CHECKING:
    import paramiko

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # errors are in the reply, not on stderr


def run(target: Target, script: str, limits: ShellLimits, allowance: Allowance | None = None) -> ShellReply:
    """Run a script on a node; a failure is returned as the reply's reason. Credentials are removed from the reply.

    Without an allowance, the size limit is the only limit of the memory for the reply.
    """
    allowance = allowance or Allowance()
    if target.needs:
        return _repeated(target, limits, lambda: openssh.run(target, script, limits, allowance))
    if libssh2.is_usable(target):
        with suppress(libssh2.Unsupported):
            return _repeated(target, limits, lambda: libssh2.run(target, script, limits, allowance))
    act = _Script(script, allowance)
    return _repeated(
        target, limits, lambda: _tried(target, limits, act, lambda to: openssh.run(to, script, limits, allowance))
    )


def talk(target: Target, command: str, limits: ShellLimits, speak: Callable[[CommandStream], Unknown]) -> ShellReply:
    """Run a command on a node, and call `speak` with its stream; the function `speak` returns why the stream ended.

    The reply contains no raw output of the command, because `speak` has read this output.
    """
    if target.needs:
        return _repeated(target, limits, lambda: openssh.talk(target, command, limits, speak))
    act = _Talk(command, speak)
    return _repeated(
        target, limits, lambda: _tried(target, limits, act, lambda to: openssh.talk(to, command, limits, speak))
    )


def _repeated(target: Target, limits: ShellLimits, ask: Callable[[], ShellReply]) -> ShellReply:
    """Ask again if a host on the way closed the connection early; nothing has run on the node then.

    A jump host refuses connections while many others log in (`MaxStartups` of sshd: 10 by default).
    """
    for attempt in range(1, ATTEMPTS + 1):
        began = time.monotonic()
        reply = ask()
        early = reply.stage is ConnectStage.HANDSHAKE and time.monotonic() - began < limits.connect / 2
        if not early or not target.is_behind_others or attempt == ATTEMPTS:
            break
        time.sleep(attempt * random.uniform(PAUSE / 2, PAUSE))  # noqa: S311  jitter is not a secret
    return reply


ATTEMPTS = 4
"""Maximum number of connections to a node through other hosts."""

PAUSE = 2.0
"""Maximum seconds before the second connection; the third one waits up to twice as long."""


ALGORITHMS = "algorithms that only `ssh` has"
"""What the OpenSSH client is needed for if the libraries have no algorithm in common with a server."""


class _Incompatible(Exception):
    """Raised if paramiko has no algorithm in common with a server; nothing was sent to it."""

    def __init__(self, reply: ShellReply) -> None:
        super().__init__(str(reply.cut))
        self.reply = reply


def _tried(
    target: Target, limits: ShellLimits, act: "_Script | _Talk", other: Callable[[Target], ShellReply]
) -> ShellReply:
    """Ask a node by paramiko, or by `other`, the OpenSSH client, if paramiko has no algorithm in common with it."""
    try:
        return _hidden(target, lambda hiding: _run(target, limits, hiding, act))
    except _Incompatible as error:
        reply = other(replace(target, needs=ALGORITHMS))
        # The client is not installed, or has no such algorithm either, which it does not say at its level of messages.
        no_better = (Reason.TOOL_MISSING, ConnectStage.NAME), (Reason.UNREACHABLE, ConnectStage.HANDSHAKE)
        return error.reply if (reply.cut.reason, reply.stage) in no_better else reply


def _hidden(target: Target, ask: Callable[[Hiding], ShellReply]) -> ShellReply:
    hiding = Hiding(target.password)
    reply = ask(hiding)
    return replace(reply, raw=hiding.data(reply.raw), cut=replace(reply.cut, detail=hiding.text(reply.cut.detail)))


def _run(target: Target, limits: ShellLimits, hiding: Hiding, act: "_Script | _Talk") -> ShellReply:
    import paramiko  # noqa: PLC0415  a fifth of a second, only for runs over SSH

    def shown(error: object) -> str:
        return clean(hiding.text(str(error)))  # hide first: a shortened text may end inside a secret

    try:
        sock = connect(target, limits)
    except Refused as refused:
        return ShellReply(b"", refused.why, refused.stage)
    stage = ConnectStage.HANDSHAKE
    try:
        transport = paramiko.Transport(sock)
    except (OSError, paramiko.SSHException) as error:
        sock.close()
        return ShellReply(b"", Unknown(Reason.UNREACHABLE, shown(error)), stage)
    transport.banner_timeout = transport.auth_timeout = limits.connect
    deadline = Deadline(limits.deadline, transport.close)
    try:
        _handshake(transport, target, limits)
        stage = ConnectStage.LOGIN
        log_in(transport, target, hiding)
        return act(transport, limits, deadline, hiding)
    except Refused as refused:
        late = Unknown(Reason.TIMEOUT, f"no answer within {limits.deadline:g} s")
        return ShellReply(b"", late if deadline.passed else refused.why, refused.stage)
    except paramiko.ssh_exception.IncompatiblePeer as error:
        raise _Incompatible(ShellReply(b"", Unknown(Reason.UNREACHABLE, shown(error)), stage)) from None
    except (OSError, EOFError, paramiko.SSHException) as error:
        transport.close()
        complaint = sock.complaint if isinstance(sock, ProxySocket) else ""
        if deadline.passed:
            why = Unknown(Reason.TIMEOUT, f"no answer within {limits.deadline:g} s")
        elif complaint:
            why = Unknown(Reason.UNREACHABLE, f"the way to this host ended: {shown(complaint)}")
        elif isinstance(error, TimeoutError) or "banner" in str(error) or "timeout" in str(error).casefold():
            why = Unknown(Reason.TIMEOUT, f"the SSH handshake did not complete: {shown(error) or 'silence'}")
        elif isinstance(error, EOFError):
            why = Unknown(Reason.UNREACHABLE, f"the connection ended during the {stage.value}")
        else:
            why = Unknown(Reason.UNREACHABLE, shown(error) or type(error).__name__)
        return ShellReply(b"", why, stage)
    finally:
        deadline.cancel()
        transport.close()


def _handshake(transport: "paramiko.Transport", target: Target, limits: ShellLimits) -> None:
    """Perform the SSH handshake, and check the host key before credentials or scripts are sent."""
    known = TrustedKeys.of(target)
    options = transport.get_security_options()
    # Request the known key type first: a host with several keys then presents that type.
    wanted = [k for k in options.key_types if plain_kind(k) in known.keys]
    options.key_types = [*wanted, *(k for k in options.key_types if k not in wanted)]
    transport.start_client(timeout=limits.connect)
    if not transport.initial_kex_done:  # paramiko raises nothing when its wait ends
        message = f"the SSH handshake did not complete within {limits.connect:g} s"
        raise Refused(ConnectStage.HANDSHAKE, Unknown(Reason.TIMEOUT, message))
    known.check(transport.get_remote_server_key().get_base64())


def fingerprint(key: "paramiko.PKey") -> str:
    """Return the fingerprint of a host key as ssh-keygen -l prints it."""
    return known_hosts.fingerprint(key.get_base64())


@dataclass(frozen=True)
class _Script:
    """Sends a script to the node's shell, and reads the output of the script to the end."""

    text: str
    allowance: Allowance

    def __call__(
        self, transport: "paramiko.Transport", limits: ShellLimits, deadline: Deadline, hiding: Hiding
    ) -> ShellReply:
        with deadline.paused():
            refused = self.allowance.admit()
        if refused is not None:
            return ShellReply(b"", refused)
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
        self, transport: "paramiko.Transport", limits: ShellLimits, deadline: Deadline, hiding: Hiding
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
