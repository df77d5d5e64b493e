"""What every transport to a node's operating system keeps to: limits, and a reply that says why it may be cut."""

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
    """How far we came with a node, in the order of the way there."""

    NAME = "name"
    PORT = "port"
    HANDSHAKE = "handshake"
    KEY = "host key"
    LOGIN = "login"
    SCRIPT = "script"


@dataclass(frozen=True, slots=True)
class ShellReply:
    """What came back of a node, why, if it should turn out not to be whole, and how far we came."""

    raw: bytes
    cut: Unknown
    stage: ConnectStage = ConnectStage.SCRIPT

    @property
    def reached(self) -> bool:
        """Whether the script was started at all."""
        return self.stage is ConnectStage.SCRIPT


class CommandStream(Protocol):
    """A line to a command that runs on a node, both ways."""

    def send(self, data: bytes, seconds: float) -> None:
        """Write to the command; raises OSError where it is gone or does not read for so many seconds."""

    def receive(self, seconds: float) -> bytes | None:
        """Read what the command wrote; nothing at its end, None where it wrote nothing for so many seconds."""

    def finish(self) -> None:
        """Tell the command that no more will come."""

    def close(self) -> None:
        """Let go of the command."""

    def ended(self) -> tuple[int | None, str]:
        """Give the command's exit status, where it is told, and the last line that it complained with."""


def stamped(script: str) -> str:
    """Let the script know our clock and the node's at the moment it is sent: what is between them is their distance."""
    ours = f"RACKCHECK_SENT={time.time():.2f} RACKCHECK_CLOCK=$(date +%s.%N)"
    return f"{ours}; export RACKCHECK_SENT RACKCHECK_CLOCK\n{script}"


def drain(receive: Callable[[int], bytes], cap: int) -> tuple[bytes, str]:
    """Read to the end, the cap or a broken line; keeps what came, and says in words what stopped it."""
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
