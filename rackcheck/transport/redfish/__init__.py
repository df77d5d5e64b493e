"""Reads a BMC: planned, bounded GETs over one session, which is always given back."""

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rackcheck.model.capture import BmcCapture
from rackcheck.model.documents import HANDSHAKE, Link
from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.resource import ROOT, Body

if TYPE_CHECKING:
    from rackcheck.transport.redfish.trace import Trace

INTERRUPTED = Unknown(Reason.NOT_COLLECTED, "interrupted")
"""Why what was still on its way is not known when somebody stops us."""

POLL = 0.2
"""Seconds between two looks at the clock while a BMC answers."""

WIDEST = 4
"""GETs at once beyond which BMCs get no faster, and begin to refuse."""


@dataclass(frozen=True)
class Bmc:
    """Where a BMC is, who asks, and how its certificate is known: by fingerprint, by a CA file, else by the system."""

    url: str
    user: str
    password: str = field(repr=False)
    fingerprint: str | None = None
    ca: str | None = None

    def __post_init__(self) -> None:
        place = urlsplit(self.url)
        if place.username is not None or place.password is not None:
            raise ValueError("a BMC's url holds no user and no password")
        if place.scheme != "https" or not place.hostname or place.port == 0:
            raise ValueError(f"a BMC is named as https://HOST or https://HOST:PORT: {self.url!r}")
        if place.path.strip("/") or place.query or place.fragment:
            raise ValueError(f"a BMC's url ends with its host or port: {self.url!r}")
        if self.pin is not None and not re.fullmatch(r"[0-9a-f]{64}", self.pin):
            raise ValueError(f"no SHA-256 fingerprint of 64 hex digits: {self.fingerprint!r}")

    @property
    def pin(self) -> str | None:
        """The fingerprint, bare: small hex digits."""
        if self.fingerprint is None:
            return None
        return re.sub(r"[:\s]", "", self.fingerprint.strip().casefold().removeprefix("sha256:"))


@dataclass(frozen=True)
class Limits:
    """Bounds for one BMC: seconds, bytes and counts.

    `read` is how long it may be silent, `answer` how long one answer may take however it drips (both longer for what is
    known to take long, see `patience`), `deadline` the whole visit; giving the session back takes up to `goodbye`
    beyond that. `values` of JSON are twenty times those of the largest recorded BMC; they are what takes memory.
    `width` is how many GETs are on their way at once, 1 to 4; `expand` whether whole collections are asked for, where
    they prove to be whole.
    """

    connect: float = 5.0
    read: float = 30.0
    answer: float = 60.0
    deadline: float = 180.0
    goodbye: float = 5.0
    pause: float = 0.5
    body: int = 8 << 20
    total: int = 32 << 20
    values: int = 250_000
    gets: int = 2000
    retries: int = 2
    width: int = 2
    expand: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.width <= WIDEST:
            raise ValueError(f"a BMC is asked 1 to {WIDEST} things at once, not {self.width}")


def read(
    bmc: Bmc, links: Sequence[Link], limits: Limits | None = None, *, stop: threading.Event | None = None,
    trace: "Trace | None" = None,
) -> tuple[BmcCapture, Unknown | None]:  # fmt: skip
    """Fetch what the links lead to, each resource once; with why the BMC said nothing at all, if it did not.

    Nothing a BMC does raises. Setting `stop` ends the visit; the session is given back first, also on an interrupt.
    A `trace` takes what stands beside the bodies: some headers, and seconds.
    """
    from rackcheck.transport.redfish.session import Session  # noqa: PLC0415  the HTTP libraries take a fifth of a second to import
    from rackcheck.transport.redfish.visit import Visit  # noqa: PLC0415

    try:
        session = Session(bmc, limits or Limits(), trace)
    except OSError as error:
        trouble: Unknown | None = Unknown(Reason.UNREACHABLE, f"the CA file {bmc.ca}: {clean(str(error))}")
    else:
        visit = Visit(session, stop or threading.Event())
        trouble = visit.make(tuple(links))
    if trouble is not None:
        return BmcCapture({ROOT: trouble}), trouble
    trouble = _mute(visit.bodies)
    if trouble is not None:
        return BmcCapture({ROOT: trouble}), trouble
    if session.left is not None:
        visit.bodies.setdefault(session.place, session.left)
    if session.wire.handshake is not None:
        shown = session.wire.hiding.json(session.wire.handshake.body())
        assert isinstance(shown, dict)
        visit.bodies[HANDSHAKE] = shown
    return BmcCapture(visit.bodies, session.times), None


def _mute(bodies: Mapping[str, Body | Unknown]) -> Unknown | None:
    """Say why a BMC that let us in told nothing at all; None where it told anything, or answered that it will not."""
    asked = [body for uri, body in bodies.items() if uri != ROOT]
    lost = [body for body in asked if isinstance(body, Unknown)]
    whys = [why for why in lost if why != INTERRUPTED]
    if not lost or len(lost) < len(asked) or any(w.reason not in {Reason.TIMEOUT, Reason.UNREACHABLE} for w in whys):
        return None
    return Unknown(whys[0].reason, f"it lets us in and tells nothing: {whys[0].detail}") if whys else INTERRUPTED
