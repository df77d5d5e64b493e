"""What every transport to a node's operating system keeps to: limits, and a reply that says why it may be cut."""

from collections.abc import Callable
from dataclasses import dataclass

from rackcheck.core.fact import Unknown


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for one node: seconds to connect, seconds for everything, bytes of the answer."""

    connect: float = 10.0
    deadline: float = 60.0
    cap: int = 32 << 20


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back of a node, and why, if it should turn out not to be whole."""

    raw: bytes
    cut: Unknown
    reached: bool = True


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
