"""Runs scripts and commands on this machine with `sh`, in the same way as the SSH transport on a node."""

from collections.abc import Callable

from rackcheck.model.fact import Reason, Unknown
from rackcheck.transport import child
from rackcheck.transport.memory import Allowance
from rackcheck.transport.wire import CommandStream, ShellLimits, ShellReply


def run(script: str, limits: ShellLimits, allowance: Allowance | None = None) -> ShellReply:
    """Run a script on this machine; the deadline and the size limits are the same as over SSH."""

    def why(_: child.Child) -> ShellReply:
        return ShellReply(b"", Unknown(Reason.NOT_COLLECTED, "the answer ended early"))

    try:
        return child.run(["/bin/sh", "-s"], script, limits, allowance or Allowance(), why)
    except OSError as error:
        return ShellReply(b"", Unknown(Reason.TOOL_MISSING, f"/bin/sh: {error.strerror}"))


def talk(command: str, limits: ShellLimits, speak: Callable[[CommandStream], Unknown]) -> ShellReply:
    """Run a command on this machine, and call `speak` with the command's input and output stream, as over SSH."""
    return child.talk(["/bin/sh", "-c", command], limits, speak)
