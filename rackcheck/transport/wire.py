"""Types for all transports to a node's operating system: limits, and a reply with the reason for missing output."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from rackcheck.model.fact import Unknown
from rackcheck.transport.memory import Allowance


@dataclass(frozen=True, slots=True)
class ShellLimits:
    """Limits for one node: seconds to connect, seconds in total, bytes of output."""

    connect: float = 10.0
    deadline: float = 60.0
    cap: int = 32 << 20


class ConnectStage(StrEnum):
    """The stages of a connection to a node, in order."""

    NAME = "name"
    PORT = "port"
    HANDSHAKE = "handshake"
    KEY = "host key"
    LOGIN = "login"
    SCRIPT = "script"


@dataclass(frozen=True, slots=True)
class ShellReply:
    """A node's output, the reason that applies if the output is incomplete, and the stage that was reached."""

    raw: bytes
    cut: Unknown
    stage: ConnectStage = ConnectStage.SCRIPT

    @property
    def reached(self) -> bool:
        """Return whether the script was started."""
        return self.stage is ConnectStage.SCRIPT


class CommandStream(Protocol):
    """The input and output stream of a command that runs on a node."""

    def send(self, data: bytes, seconds: float) -> None:
        """Write to the command; raises OSError if the command has ended, or reads nothing for `seconds`."""

    def receive(self, seconds: float) -> bytes | None:
        """Read the output of the command; empty at the end of the output, None if there is no output for `seconds`."""

    def finish(self) -> None:
        """Close the command's input."""

    def close(self) -> None:
        """Close the stream."""

    def ended(self) -> tuple[int | None, str]:
        """Return the exit status of the command, if known, and the last line of the command's standard error."""


def stamped(script: str) -> str:
    """Prefix a script with variables for our time and the node's time; the difference is the clock skew."""
    ours = f"RACKCHECK_SENT={time.time():.2f} RACKCHECK_CLOCK=$(date +%s.%N)"
    return f"{ours}; export RACKCHECK_SENT RACKCHECK_CLOCK\n{script}"


def drain(receive: Callable[[int], bytes], cap: int, allowance: Allowance) -> tuple[bytes, str | Unknown]:
    """Read until the end, the size limit or a connection error; return the data, and the reason why reading stopped.

    The data use `COPIES` times their size of the allowance; an Unknown is the reason why there was no memory for them.
    """
    data = bytearray()
    stopped: str | Unknown = LARGE
    while len(data) <= cap:
        try:
            chunk = receive(1 << 16)
        except OSError as error:
            stopped = f"the connection broke: {error or type(error).__name__}"
            break
        if not chunk:
            stopped = "the connection was cut"
            break
        why = allowance.add(COPIES * len(chunk))
        if why is not None:
            stopped = why
            break
        data += chunk
    if len(data) > cap:
        allowance.give(COPIES * (len(data) - cap))
        del data[cap:]
    return bytes(data), stopped


COPIES = 2
"""Number of times that a node's output is in memory: while it is copied, or while credentials are removed from it."""

LARGE = "the size cap was reached"
