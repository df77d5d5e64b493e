"""Reads a BMC: planned, bounded GETs over one session, which is always given back."""

import re
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rackcheck.core.capture import BmcCapture
from rackcheck.core.fact import Reason, Unknown, clean
from rackcheck.core.resource import ROOT, Body, Documents, Link

if TYPE_CHECKING:
    from rackcheck.redfish.session import Session
    from rackcheck.redfish.trace import Trace

POLL = 0.2
"""Seconds between two looks at the clock while a BMC answers."""


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

    `read` is how long it may be silent, `answer` how long one answer may take however it drips, `deadline` the whole
    visit; giving the session back takes up to `goodbye` beyond that. `values` of JSON are twenty times those of the
    largest recorded BMC; they are what takes memory.
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


def read(
    bmc: Bmc, links: Sequence[Link], limits: Limits | None = None, *, stop: threading.Event | None = None,
    trace: "Trace | None" = None,
) -> tuple[BmcCapture, Unknown | None]:  # fmt: skip
    """Fetch what the links lead to, each resource once; with why the BMC said nothing at all, if it did not.

    Nothing a BMC does raises. Setting `stop` ends the visit; the session is given back first, also on an interrupt.
    A `trace` takes what stands beside the bodies: some headers, and seconds.
    """
    from rackcheck.redfish.session import Session  # noqa: PLC0415  the HTTP libraries take a fifth of a second to import

    try:
        session = Session(bmc, limits or Limits(), trace)
    except OSError as error:
        trouble: Unknown | None = Unknown(Reason.UNREACHABLE, f"the CA file {bmc.ca}: {clean(str(error))}")
    else:
        visit = _Visit(session, stop or threading.Event())
        trouble = visit.make(tuple(links))
    if trouble is not None:
        return BmcCapture({ROOT: trouble}), trouble
    if session.left is not None:
        visit.bodies.setdefault(session.place, session.left)
    return BmcCapture(visit.bodies, session.times), None


class _Visit:
    """One BMC while it is read."""

    def __init__(self, session: "Session", stop: threading.Event) -> None:
        self.session, self.stop = session, stop
        self.bodies: dict[str, Body | Unknown] = {}
        self.pool = ThreadPoolExecutor(session.limits.width, thread_name_prefix="bmc")

    def make(self, links: tuple[Link, ...]) -> Unknown | None:
        """Log in, fetch until nothing is wanted, log out; gives why there was nothing to fetch."""
        pending: set[Future[Any]] = set()
        try:
            entering = self.pool.submit(self.session.enter)
            pending.add(entering)
            self._watch(pending)
            root = entering.result()
            if isinstance(root, Unknown):
                return root
            self.bodies[ROOT] = root
            docs = Documents(self.bodies)
            while todo := docs.wanted(links):
                self._batch(sorted(todo), pending)
            return None
        finally:
            self.session.end(cut=bool(pending))
            self.pool.shutdown(cancel_futures=True)
            self.session.leave()

    def _batch(self, uris: Iterable[str], pending: set[Future[Any]]) -> None:
        queue = deque(uris)
        asked: dict[Future[Any], str] = {}
        while queue or pending:
            while queue and len(pending) < self.session.width:
                uri = queue.popleft()
                if self.session.over is not None:
                    self.bodies[uri] = self.session.over
                    continue
                future = self.pool.submit(self.session.fetch, uri)
                asked[future] = uri
                pending.add(future)
            for future in self._watch(pending):
                self.bodies[asked[future]] = future.result()

    def _watch(self, pending: set[Future[Any]]) -> set[Future[Any]]:
        """Wait until something is done, cutting what drags; takes it off the pending."""
        done: set[Future[Any]] = set()
        while pending and not done:
            left = self.session.until - time.monotonic()
            done, _ = wait(pending, max(0.01, min(POLL, left)), FIRST_COMPLETED)
            self.session.wire.tend()
            if self.session.over is None and self.stop.is_set():
                self.session.end(Unknown(Reason.NOT_COLLECTED, "interrupted"))
            elif self.session.over is None and left <= 0:
                seconds = self.session.limits.deadline
                self.session.end(Unknown(Reason.TIMEOUT, f"the {seconds:g} s for this BMC were over"))
        pending -= done
        return done
