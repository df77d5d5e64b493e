"""Transport to a node by the OpenSSH client, for paths that only it knows: several jumps, host certificates and more.

The client reads the user's configuration itself. It is called so that it cannot ask (`BatchMode`), trusts no new host
key (`StrictHostKeyChecking`), and forwards nothing.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

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

FAILED = 255
"""Exit status of the client if it could not connect or log in; a remote command may exit with it, too."""

MESSAGES: tuple[tuple[str, Reason, ConnectStage], ...] = (
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


def words(target: Target, limits: ShellLimits) -> list[str]:
    """Return the call of the client for a node, without the remote command."""
    given = ["ssh", "-T", *(word for option in SAFE for word in ("-o", option))]
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
