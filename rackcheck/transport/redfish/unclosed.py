"""The sessions of this process that a BMC did not close: they are few, are tried again, and are reported."""

import hmac
import os
import threading
from collections.abc import Mapping

from rackcheck.model.fact import Unknown
from rackcheck.model.resource import Body
from rackcheck.transport.redfish.target import Bmc

MOST = 2
"""Maximum number of sessions of one BMC that are left open; then no session is opened, and basic authentication used.

If a BMC refuses to delete a session, the first one is enough, because it would refuse to delete further ones too.
A burn-in reads a BMC every few seconds: without this limit, such a BMC would run out of sessions.
"""

PASSWORDS = 2
"""Number of passwords that a BMC may reject with basic authentication; then no other one is tried."""

LEFT = "the session was not closed and will expire"
"""The beginning of the reason that is recorded for a session that could not be closed."""

BmcUser = tuple[str, str, str | None]
"""The URL of a BMC, the user and the pinned fingerprint."""

BmcSession = tuple[str, str]
"""The URI of a session and its token."""


class UnclosedSessions:
    """The sessions that could not be closed, by BMC and user; safe for use by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: dict[BmcUser, list[BmcSession]] = {}
        self._refusing: set[BmcUser] = set()
        self._barred: dict[BmcUser, set[bytes]] = {}
        self._salt = os.urandom(16)

    def full(self, bmc: Bmc) -> bool:
        """Return whether no further session may be opened on this BMC."""
        with self._lock:
            return _key(bmc) in self._refusing or len(self._left.get(_key(bmc), ())) >= MOST

    def add(self, bmc: Bmc, session: BmcSession, *, refused: bool = False) -> None:
        """Record a session that could not be closed, and whether the BMC refused to delete it."""
        with self._lock:
            held = self._left.setdefault(_key(bmc), [])
            if session not in held:
                held.append(session)
            if refused:
                self._refusing.add(_key(bmc))

    def left(self, bmc: Bmc) -> list[BmcSession]:
        """Return the recorded sessions of a BMC, to try again to close them; they count as open until `closed`."""
        with self._lock:
            return list(self._left.get(_key(bmc), ()))

    def closed(self, bmc: Bmc, session: BmcSession) -> None:
        """Record that a session was closed; a BMC that closed one does not refuse to."""
        with self._lock:
            held = self._left.get(_key(bmc), [])
            if session in held:
                held.remove(session)
                self._refusing.discard(_key(bmc))

    def bar(self, bmc: Bmc) -> None:
        """Record that this BMC rejects basic authentication, or this password, to avoid that it locks the user."""
        with self._lock:
            self._barred.setdefault(_key(bmc), set()).add(self._mark(bmc))

    def barred(self, bmc: Bmc) -> bool:
        """Return whether this BMC has rejected basic authentication with the same password, or with several others."""
        with self._lock:
            rejected = self._barred.get(_key(bmc), set())
            return len(rejected) >= PASSWORDS or self._mark(bmc) in rejected

    def _mark(self, bmc: Bmc) -> bytes:
        """Return a digest by which a password is recognised; it is of use in this process only."""
        return hmac.digest(self._salt, bmc.password.encode(errors="surrogatepass"), "sha256")


UNCLOSED = UnclosedSessions()
"""The sessions that this process left open."""


def left_open(bodies: Mapping[str, Body | Unknown]) -> str:
    """Return why a session was not closed, from the resources of a visit; empty if every session was closed."""
    reasons = (body.detail for body in bodies.values() if isinstance(body, Unknown))
    return next((reason for reason in reasons if reason.startswith(LEFT)), "")


def _key(bmc: Bmc) -> BmcUser:
    return bmc.url.rstrip("/"), bmc.user, bmc.pin
