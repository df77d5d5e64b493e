"""Reads a BMC's identity and the role of rackcheck's account in one short session, and times each GET."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rackcheck.doctor.bmc_plane import LINKS, next_account
from rackcheck.model.documents import wanted
from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.resource import ROOT, Body
from rackcheck.transport.redfish import POLL, Bmc, Limits

if TYPE_CHECKING:
    from rackcheck.transport.redfish.session import Session

LIMITS = Limits(
    connect=3.0, handshake=5.0, read=5.0, answer=6.0, deadline=10.0, goodbye=2.0, pause=0.3, gets=60, retries=1, width=1
)


@dataclass(frozen=True)
class Heard:
    """The resources of a BMC, the seconds that each GET took, and why the session ended early, if it did.

    `left` is the reason why the session could not be closed, if it could not.
    """

    bodies: Mapping[str, Body | Unknown]
    seconds: tuple[float, ...]
    trouble: Unknown | None = None
    left: Unknown | None = None


def visit(bmc: Bmc, stop: threading.Event, limits: Limits = LIMITS) -> Heard | Unknown:
    """Log in, read and log out; if nothing was read, return the reason. The BMC session is always closed."""
    from rackcheck.transport.redfish.session import Session  # noqa: PLC0415  the HTTP libraries are slow to import

    try:
        session = Session(bmc, limits)
    except OSError as error:
        return Unknown(Reason.UNREACHABLE, f"the CA file {bmc.ca}: {clean(str(error))}")
    with _watched(session, stop):
        root = session.enter()
        heard = root if isinstance(root, Unknown) else _look_around(session, root, bmc.user)
    return heard if isinstance(heard, Unknown) else replace(heard, left=session.left)


def _look_around(session: "Session", root: Body, user: str) -> Heard:
    bodies: dict[str, Body | Unknown] = {ROOT: root}
    seconds: list[float] = []

    def get(uri: str) -> None:
        began = time.monotonic()
        bodies[uri] = session.fetch(uri)
        seconds.append(time.monotonic() - began)

    while session.over is None and (todo := wanted(LINKS, bodies)):
        for uri in sorted(todo):
            get(uri)
    # A BMC may have many accounts: the search for our own must not use up the time.
    while session.over is None and time.monotonic() < session.until - session.limits.deadline / 2:
        account = next_account(bodies, user)
        if account is None:
            break
        get(account)
    return Heard(bodies, tuple(seconds), session.over)


@contextmanager
def _watched(session: "Session", stop: threading.Event) -> Iterator[None]:
    """Watch a session from another thread, which ends requests that are too slow; close the session at the end."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(POLL):
            session.wire.tend()
            if stop.is_set():
                session.end(Unknown(Reason.NOT_COLLECTED, "interrupted"))
                return
            if time.monotonic() > session.until:
                session.end(
                    Unknown(Reason.TIMEOUT, f"the deadline of {session.limits.deadline:g} s for this BMC has passed")
                )
                return

    watcher = threading.Thread(target=watch, daemon=True, name="bmc-watch")
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        session.leave()
