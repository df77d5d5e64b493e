"""The sessions of this process that a BMC did not close: they are few, are tried again, and are reported."""

import threading
from collections.abc import Mapping

from rackcheck.model.fact import Unknown
from rackcheck.model.resource import Body
from rackcheck.transport.redfish.target import Bmc

MOST = 2
"""Maximum number of sessions of one BMC that are left open; then no session is opened, and basic authentication used.

A burn-in reads a BMC every few seconds: without this limit, a BMC that refuses every DELETE would run out of sessions.
"""

LEFT = "the session was not closed and will expire"
"""The beginning of the reason that is recorded for a session that could not be closed."""

BmcSession = tuple[str, str]
"""The URI of a session and its token."""


class UnclosedSessions:
    """The sessions that could not be closed, by BMC and user; safe for use by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: dict[tuple[str, str, str | None], list[BmcSession]] = {}

    def full(self, bmc: Bmc) -> bool:
        """Return whether no further session may be opened on this BMC."""
        with self._lock:
            return len(self._left.get(_key(bmc), ())) >= MOST

    def add(self, bmc: Bmc, session: BmcSession) -> None:
        """Record a session that could not be closed."""
        with self._lock:
            self._left.setdefault(_key(bmc), []).append(session)

    def take(self, bmc: Bmc) -> list[BmcSession]:
        """Remove and return the recorded sessions of a BMC, to try again to close them."""
        with self._lock:
            return self._left.pop(_key(bmc), [])


UNCLOSED = UnclosedSessions()
"""The sessions that this process left open."""


def left_open(bodies: Mapping[str, Body | Unknown]) -> str:
    """Return why a session was not closed, from the resources of a visit; empty if every session was closed."""
    reasons = (body.detail for body in bodies.values() if isinstance(body, Unknown))
    return next((reason for reason in reasons if reason.startswith(LEFT)), "")


def _key(bmc: Bmc) -> tuple[str, str, str | None]:
    return bmc.url.rstrip("/"), bmc.user, bmc.pin
