"""Common to every transport to a node's operating system: limits, and a reply with why it may be cut."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from rackcheck.model.fact import Unknown


@dataclass(frozen=True, slots=True)
class ShellLimits:
    """Bounds for one node: seconds to connect, seconds for everything, bytes of the answer."""

    connect: float = 10.0
    deadline: float = 60.0
    cap: int = 32 << 20


class ConnectStage(StrEnum):
    """How far a connection to a node came, in order."""

    NAME = "name"
    PORT = "port"
    HANDSHAKE = "handshake"
    KEY = "host key"
    LOGIN = "login"
    SCRIPT = "script"


@dataclass(frozen=True, slots=True)
class ShellReply:
    """The output of a node, why it ended if it proves incomplete, and how far the connection came."""

    raw: bytes
    cut: Unknown
    stage: ConnectStage = ConnectStage.SCRIPT

    @property
    def reached(self) -> bool:
        """Whether the script was started at all."""
        return self.stage is ConnectStage.SCRIPT


class CommandStream(Protocol):
    """A stream to a command that runs on a node, both ways."""

    def send(self, data: bytes, seconds: float) -> None:
        """Write to the command; raises OSError if it is gone or reads nothing for this many seconds."""

    def receive(self, seconds: float) -> bytes | None:
        """Read the command's output; empty at its end, None if it wrote nothing for this many seconds."""

    def finish(self) -> None:
        """Signal the end of input to the command."""

    def close(self) -> None:
        """Close the stream."""

    def ended(self) -> tuple[int | None, str]:
        """Return the command's exit status, if it is reported, and the last line of its standard error."""


def stamped(script: str) -> str:
    """Prefix a script with our clock and the node's at the moment it is sent: their difference is the skew."""
    ours = f"RACKCHECK_SENT={time.time():.2f} RACKCHECK_CLOCK=$(date +%s.%N)"
    return f"{ours}; export RACKCHECK_SENT RACKCHECK_CLOCK\n{script}"


def drain(receive: Callable[[int], bytes], cap: int) -> tuple[bytes, str]:
    """Read to the end, the cap or a broken connection; returns the data, and what stopped it."""
    chunks: list[bytes] = []
    size = 0
    while size <= cap:
        try:
            chunk = receive(1 << 16)
        except OSError as error:
            return b"".join(chunks), f"the line broke: {error or type(error).__name__}"
        if not chunk:
            return b"".join(chunks), "the line was cut"
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks)[:cap], LARGE


LARGE = "the cap was hit"
