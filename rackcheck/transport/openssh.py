"""Transport to a node by the OpenSSH client, for paths that only it knows: several jumps, host certificates and more.

The client reads the user's configuration itself. It is called so that it cannot ask (`BatchMode`), trusts no new host
key (`StrictHostKeyChecking`), and forwards nothing.
"""

import math
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.regex import regex
from rackcheck.transport import child
from rackcheck.transport.memory import Allowance
from rackcheck.transport.ssh_config import Target
from rackcheck.transport.wire import CommandStream, ConnectStage, ShellLimits, ShellReply

SAFE = (
    "BatchMode=yes", "StrictHostKeyChecking=yes", "UpdateHostKeys=no", "ForwardAgent=no", "ForwardX11=no",
    "ClearAllForwardings=yes", "PermitLocalCommand=no", "RemoteCommand=none", "RequestTTY=no", "LogLevel=ERROR",
)  # fmt: skip
"""Options that the user's configuration cannot change."""

KINDS = ("ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-512,rsa-sha2-256")
"""The kinds of host keys that are read, one connection each."""

FAILED = 255
"""Exit status of the client if it could not connect or log in; a remote command may exit with it, too."""

MESSAGES: tuple[tuple[str, Reason, ConnectStage], ...] = (
    (r"unknown key %|Bad configuration option", Reason.UNREACHABLE, ConnectStage.PORT),
    (r"Could not resolve hostname", Reason.UNREACHABLE, ConnectStage.NAME),
    (r"HOST IDENTIFICATION HAS CHANGED|Host key verification failed|host key is known|REVOKED|revoked",
     Reason.HOST_KEY_CHANGED, ConnectStage.KEY),
    (r"Permission denied|Too many authentication failures|no mutual signature", Reason.DENIED, ConnectStage.LOGIN),
    (r"timed out during banner exchange", Reason.TIMEOUT, ConnectStage.HANDSHAKE),
    (r"during banner exchange|kex_exchange_identification|no matching |Connection (closed|reset)",
     Reason.UNREACHABLE, ConnectStage.HANDSHAKE),
    (r"[Tt]imed out", Reason.TIMEOUT, ConnectStage.PORT),
    (r"Connection refused|No route to host|Network is unreachable", Reason.UNREACHABLE, ConnectStage.PORT),
)  # fmt: skip
"""Messages of OpenSSH 8 to 10 (ssh.c, sshconnect.c, sshconnect2.c, kex.c), with the reason and the stage they mean."""


def run(target: Target, script: str, limits: ShellLimits, allowance: Allowance | None = None) -> ShellReply:
    """Run a script on a node; a failure is returned as the reply's reason."""
    refused = _refused(target)
    if refused is not None:
        return refused
    try:
        return child.run(
            [*words(target, limits), "sh", "-s"], script, limits, allowance or Allowance(),
            lambda ended: _why(*ended.complaints()), ConnectStage.HANDSHAKE,
        )  # fmt: skip
    except OSError as error:
        return ShellReply(b"", Unknown(Reason.TOOL_MISSING, f"ssh: {error.strerror}"), ConnectStage.NAME)


def talk(target: Target, command: str, limits: ShellLimits, speak: Callable[[CommandStream], Unknown]) -> ShellReply:
    """Run a command on a node, and call `speak` with its stream; the function `speak` returns why the stream ended."""
    refused = _refused(target)
    if refused is not None:
        return refused

    def silent(ended: child.Child, why: Unknown) -> ShellReply:
        status, complaints = ended.complaints()
        return _why(status, complaints) if status == FAILED else ShellReply(b"", why)

    try:
        return child.talk([*words(target, limits), command], limits, speak, silent)
    except OSError as error:
        return ShellReply(b"", Unknown(Reason.TOOL_MISSING, f"ssh: {error.strerror}"), ConnectStage.NAME)


def host_keys(target: Target, limits: ShellLimits) -> Iterator[str]:
    """Yield the host keys of a server, as lines of known_hosts; raises OSError with the client's message.

    The client writes a new key to an empty file of its own before it would log in, and is not given a way to log in.
    """
    found, said = False, ""
    for kind in KINDS:
        with tempfile.TemporaryDirectory(prefix="rackcheck-") as folder:
            file = Path(folder) / "known_hosts"
            options = [
                "StrictHostKeyChecking=accept-new", f"UserKnownHostsFile={_quoted(str(file))}",
                "GlobalKnownHostsFile=/dev/null", "IgnoreUnknown=KnownHostsCommand", "KnownHostsCommand=none",
                "HashKnownHosts=no", "CheckHostIP=no", "VerifyHostKeyDNS=no", "ControlPath=none",
                "PreferredAuthentications=none", f"HostKeyAlgorithms={kind}",
            ]  # fmt: skip
            with child.Child([*words(target, limits, options), "true"], limits) as client:
                client.finish()
                while client.read(1 << 16):
                    pass
                late, (_, complaints) = client.late, client.complaints()
            lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        yield from lines
        found = found or bool(lines)
        said = said or f"no answer within {limits.deadline:g} s" * late or _said(complaints)
        if late:
            break
    if not found:
        raise OSError(None, f"see `ssh -v {shlex.quote(target.name)}`: {said or 'no SSH host key was presented'}")


def _said(complaints: str) -> str:
    """Return the client's own message, or else its last line."""
    why = _why(FAILED, complaints).cut
    return why.detail.removeprefix("the connection was cut; it printed: ")


def words(target: Target, limits: ShellLimits, first: Sequence[str] = ()) -> list[str]:
    """Return the call of the client for a node, without the remote command; its first options count most."""
    given = ["ssh", "-T", *(word for option in (*first, *SAFE) for word in ("-o", option))]
    given += ["-o", f"ConnectTimeout={math.ceil(limits.connect)}"]
    given += [word for option in _own(target) for word in ("-o", option)]
    if target.jump:
        given += ["-J", target.jump]
    return [*given, "--", target.name]


def _own(target: Target) -> Iterator[str]:
    """Yield the options from the inventory, which count more than the user's configuration."""
    if target.given.port:
        yield f"Port={target.given.port}"
    if target.given.user:
        yield f"User={target.given.user}"
    if target.given.key:
        yield f"IdentityFile={_quoted(target.given.key)}"
        yield "IdentitiesOnly=yes"
    if target.given.known_hosts or target.given.trusted:
        yield f"UserKnownHostsFile={' '.join(map(_quoted, target.known_hosts))}"


def _quoted(path: str) -> str:
    """Quote a path for an option of the client: percent signs are tokens, and blanks separate files."""
    escaped = path.replace("%", "%%")
    return f'"{escaped}"' if any(each in escaped for each in " \t") else escaped


def _refused(target: Target) -> ShellReply | None:
    """Return why a node is not asked: the client reads a password or a passphrase from a terminal only."""
    secret = "password" if target.password else "passphrase" if target.passphrase else ""
    if not secret:
        return None
    how = "a key, or an agent that has the key" if secret == "password" else "an agent that has the key"
    text = f"ssh.{secret} cannot be used on this path ({target.needs}): use {how}"
    return ShellReply(b"", Unknown(Reason.DENIED, text), ConnectStage.LOGIN)


def _why(status: int | None, complaints: str) -> ShellReply:
    """Return why there is no output: the client's own message, or that of the remote shell."""
    lines = [line.strip() for line in complaints.splitlines() if line.strip()]
    if status == FAILED:
        for pattern, reason, stage in MESSAGES:
            line = next((line for line in reversed(lines) if regex(pattern).search(line)), None)
            if line is not None:
                return ShellReply(b"", Unknown(reason, clean(line, 200)), stage)
    said = f"; it printed: {clean(lines[-1][-200:])}" if lines else ""
    reply = ShellReply(b"", Unknown(Reason.UNREACHABLE, f"the connection was cut{said}"))
    return replace(reply, stage=ConnectStage.HANDSHAKE) if status == FAILED else reply
