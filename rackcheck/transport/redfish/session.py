"""A session with one BMC: login, GETs with a limited number of retries, and logout."""

import math
import random
import re
import threading
import time
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.regex import regex
from rackcheck.model.resource import ROOT, Body
from rackcheck.model.secret_filter import Hiding
from rackcheck.transport.memory import Allowance
from rackcheck.transport.redfish.answer import (
    BUSY,
    MOVED,
    HttpReply,
    body_of,
    message,
    other_spelling,
    own,
    parsed,
    same_host,
    session_place,
    sessions,
)
from rackcheck.transport.redfish.load import VisitUsage
from rackcheck.transport.redfish.target import SESSION_REJECTED, Bmc, Limits
from rackcheck.transport.redfish.tls import Client, PinnedTls, RequestFault, trust
from rackcheck.transport.redfish.trace import Trace
from rackcheck.transport.redfish.unclosed import LEFT, UNCLOSED

# Time limits of one resource: BMCs assemble some resources from many parts on each GET.

SLOW: Mapping[str, int] = {"firmwareinventory": 6, "entries": 6}
"""Factors of the time limits, by the last path segment of a collection's URI.

Reported durations are 2 to 3 minutes for the firmware inventory of a DGX H100
(github.com/dsx-ai-factory/infra-controller issues 1584 and 6419), and 60 s for a log of 10,000 entries
(github.com/DMTF/Redfish-Service-Validator issue 653): up to six times the default of 30 s.
"""


def patience(uri: str) -> int:
    """Return the factor by which the time limits are multiplied for the resource at a URI."""
    return SLOW.get(uri.partition("?")[0].rstrip("/").rpartition("/")[2].casefold(), 1)


def bounded(seconds: float, times: float, left: float) -> float:
    """Return the time limit `seconds`, extended by the factor `times` if enough time is left.

    An extended limit is at most half of the remaining time `left`; a limit is never longer than `left`.
    """
    return min(max(seconds, min(seconds * times, left / 2)), left)


NO_SESSIONS = frozenset({404, 405, 501})
"""Status codes of a login on a BMC that does not support sessions (iDRAC 8); other status codes reject the login."""

LIMIT = regex(r"RAC0218|SessionLimit", re.IGNORECASE)
"""iDRAC's message with status 503 if all sessions are in use; a retry cannot succeed then."""

SESSIONS = f"{ROOT}/SessionService/Sessions"
"""The standard URI of the session collection."""

LOGINS = 4
"""Maximum number of logins while one BMC is read: the first login, and one login for each lost session."""

GOODBYES = 3
"""Maximum number of attempts to close a session."""

GONE = frozenset({401, 404, 410})
"""Status codes of a logout from a session that no longer exists; some BMCs return 401."""

REFUSED = frozenset({403, 405, 501})
"""Status codes with which a BMC refuses to delete a session; a retry cannot succeed then."""

BASIC_REJECTED = Unknown(
    Reason.DENIED,
    "the BMC does not close sessions, so that no further one was opened, and rejects basic authentication or the "
    "password: HTTP 401",
)

DEAD = 3
"""After this number of consecutive resources without a reply, no further GET is sent."""


class Session:
    """One BMC, from login to logout; if `over` is set, it is the reason why no further request is sent.

    `spared` is true if basic authentication is used because the BMC does not close sessions.
    """

    def __init__(
        self, bmc: Bmc, limits: Limits, trace: Trace | None = None, allowance: Allowance | None = None
    ) -> None:
        self.bmc, self.limits, self.trace = bmc, limits, trace
        self.allowance = allowance or Allowance()
        # A BMC may repeat the login's credentials in an error message; they must not leave this layer.
        hiding = Hiding(bmc.password, user=bmc.user)
        self.wire = PinnedTls(
            bmc.url.rstrip("/"), trust(bmc.pin, bmc.ca), bmc.pin, cap=limits.body, width=limits.width, hiding=hiding,
            allowance=self.allowance, handshake=limits.handshake,
        )  # fmt: skip
        self.until = self.allowance.until = time.monotonic() + limits.deadline
        self.over: Unknown | None = None
        self.halt = threading.Event()
        self.width = limits.width
        self.load = VisitUsage(limits, self.allowance)
        self.gets = self.dead = self.logins = 0
        self.welcome = self.spared = False
        self.place = SESSIONS
        self.left: Unknown | None = None
        self.key: str | None = None
        self.basic: str | None = None
        self.taken: list[tuple[str, str]] = []
        self.lock = threading.Lock()
        self.mine = threading.local()
        self.spelt: dict[str, str] = {}
        self.times: dict[str, str] = {}

    def enter(self) -> Body | Unknown:
        """Read the root and log in; return the root's body."""
        try:
            answer = self._asked(f"{ROOT}/")
            if isinstance(answer, Unknown):
                return answer
            shut = answer.status == 401  # contrary to the standard, some BMCs require a login for the root
            root = None if shut else self._traced(ROOT, body_of(answer, self.wire.hiding), answer)
            if isinstance(root, Unknown):
                return root
            self.place = (sessions(root) if root is not None else None) or self.place
            trouble = self._admitted() or self._login()
            if trouble is not None:
                return trouble
            return self.fetch(f"{ROOT}/") if root is None else root
        except Exception as error:  # noqa: BLE001  no reply of a BMC may end an audit
            return Unknown(Reason.UNPARSABLE, f"the client failed: {type(error).__name__}")

    def _admitted(self) -> Unknown | None:
        """Wait for the memory of an ordinary reply; the BMC's deadline is later by this time."""
        left, self.until = self.until - time.monotonic(), math.inf
        try:
            return self.allowance.admit()
        finally:
            self.until = self.allowance.until = time.monotonic() + left

    def fetch(self, uri: str) -> Body | Unknown:
        """Fetch one resource; if it is missing, retry once with another spelling of its URI."""
        try:
            answer = self._asked(uri)
            elsewhere = None
            if not isinstance(answer, Unknown) and answer.status in MOVED:
                elsewhere = same_host(self.bmc.url, uri, answer.getheader("Location"))
            elif not isinstance(answer, Unknown) and answer.status == 404:
                elsewhere = other_spelling(uri, self.spelt)
            if elsewhere is not None:
                second = self._asked(elsewhere)
                answer = second if isinstance(second, Unknown) or second.status != 404 else answer
            if isinstance(answer, Unknown):
                return answer
            came = datetime.now(UTC).isoformat(timespec="milliseconds")
            with self.load.parsing(answer.read) as why:
                body = why or own(uri, body_of(answer, self.wire.hiding))
            return self._dated(uri, self._traced(uri, body, answer), came)
        except Exception as error:  # noqa: BLE001  no reply of a BMC may end an audit
            return Unknown(Reason.UNPARSABLE, f"the client failed: {type(error).__name__}")

    def attempt(self, uri: str, spelt: str) -> Body | Unknown:
        """Fetch the resource `uri` by the URI `spelt` (with $expand), without retries after an error."""
        try:
            answer = self._asked(spelt, once=True)
            if isinstance(answer, Unknown):
                return answer
            with self.load.parsing(answer.read, trial=uri) as why:
                return why or body_of(answer, self.wire.hiding)
        except Exception as error:  # noqa: BLE001  no reply of a BMC may end an audit
            return Unknown(Reason.UNPARSABLE, f"the client failed: {type(error).__name__}")

    def _traced(self, uri: str, body: Body | Unknown, answer: HttpReply) -> Body | Unknown:
        """If a trace is recorded, add the headers and the duration of this reply to it."""
        if self.trace is not None and isinstance(body, Mapping):
            self.trace.note(uri, answer, self.mine.seconds)
        return body

    def _dated(self, uri: str, body: Body | Unknown, came: str) -> Body | Unknown:
        """If a body contains a time, record the time when the body was received, to compare both times."""
        if isinstance(body, Mapping) and "DateTime" in body:
            self.times[uri] = came
        return body

    def end(self, why: Unknown | None = None, *, cut: bool = True) -> None:
        """Send no further requests; if `cut` is true, also abort the requests in flight."""
        self.over = self.over or why
        self.halt.set()
        if cut:
            self.wire.cut()

    def leave(self) -> None:
        """Close every session that this client opened, also after errors."""
        earlier = UNCLOSED.left(self.bmc)
        if self.taken or earlier:
            if self.wire.closed:
                self.wire.reopen()
            self.until = time.monotonic() + self.limits.goodbye
            timer = threading.Timer(self.limits.goodbye, self.wire.cut)
            timer.daemon = True
            timer.start()
            for session in (*self.taken, *earlier):
                status = self._give_back(*session)
                if status is None:
                    UNCLOSED.closed(self.bmc, session)
                else:
                    UNCLOSED.add(self.bmc, session, refused=status in REFUSED)
            timer.cancel()
        self.wire.cut()
        self.wire.pool.close()
        self.wire.forget()

    def _give_back(self, place: str, key: str) -> int | None:
        """Delete one session, with retries on errors; return None if it is closed, or no longer exists.

        Otherwise the last status code is returned, or 0 without one. A refusal (403, 405) is not retried.
        """
        why, status = "no answer", 0
        for attempt in range(GOODBYES):
            time.sleep(min(self.limits.pause * attempt, max(0.0, self.until - time.monotonic())))
            try:
                client = self._client()
                client.set_session_key(key)
                status = client.delete(place).status
            except Exception as error:  # noqa: BLE001  after any error, the session may still exist
                why = error.unknown.detail if isinstance(error, RequestFault) else type(error).__name__
                status = 0
                continue
            if status < 300 or status in GONE:
                return None
            why = f"HTTP {status}"
            if status in REFUSED:
                break
            place = f"{place.rstrip('/')}/" if status in MOVED else place
        basic = "; this visit used basic authentication" if self.spared else ""
        self.left = Unknown(Reason.NOT_COLLECTED, f"{LEFT}: its DELETE failed: {why}{basic}")
        return status

    def _client(self, times: int = 1, slow: int = 1) -> Client:
        """Return this thread's client, with the current session and the time limits for one request.

        Both `times` and `slow` multiply the time limits: `times` grows with each retry, and `slow` depends on the
        resource.
        """
        client: Client | None = getattr(self.mine, "client", None)
        if client is None:
            client = self.mine.client = Client(self.bmc.url, self.bmc.user, self.bmc.password, self.wire)
        client.set_session_key(self.key)
        client.set_authorization_key(self.basic)
        left, limits = max(0.01, self.until - time.monotonic()), self.limits
        client.timeout = (
            min(limits.connect, left),
            bounded(limits.read * times, slow, left),
            bounded(limits.answer * times, slow, left),
        )
        return client

    def _login(self) -> Unknown | None:
        """Open a session; if the BMC does not support sessions, use basic authentication from now on."""
        self.logins += 1
        self.key = self.basic = None
        if UNCLOSED.full(self.bmc):
            if UNCLOSED.barred(self.bmc):
                return BASIC_REJECTED
            self.basic, self.spared = self._basic(), True
            return None
        attempt = 0
        stale = True
        while True:
            client = self._client()
            client.login_url, client.root_resp, client.last = self.place, True, None
            try:
                client.login(auth="session")
            except RequestFault as fault:
                # A BMC may drop a kept connection silently, especially after a 401: retry on a new connection.
                if stale and fault.dropped and self.over is None:
                    stale = False
                    self.wire.renew()
                    continue
                return self.over or fault.unknown
            except Exception as error:  # noqa: BLE001  the library raises many kinds; the reply itself is judged below
                if type(error).__name__ == "RedfishPasswordChangeRequiredError":
                    self._keep(client)
                    return Unknown(Reason.DENIED, "the password of this user must be changed before a login")
            answer = client.last
            if answer is None:
                return Unknown(Reason.UNPARSABLE, "no answer to the login")
            if answer.status < 300 and client.get_session_key():
                self._keep(client)
                return None
            if answer.status < 300 or answer.status in NO_SESSIONS:
                self.basic = self._basic()
                return None
            value = f"login: HTTP {answer.status}{message(answer, self.wire.hiding)}"
            if answer.status not in BUSY:
                return Unknown(Reason.DENIED if answer.status in {400, 401, 403} else Reason.NOT_COLLECTED, value)
            result = answer.getheader("Retry-After") is not None and LIMIT.search(value) is None
            if not result or attempt >= self.limits.retries or not self._pause(attempt, answer):
                return Unknown(Reason.NOT_READY, value)
            attempt += 1

    def _basic(self) -> str:
        return "Basic " + b64encode(f"{self.bmc.user}:{self.bmc.password}".encode()).decode()

    def _keep(self, client: Client) -> None:
        """Record a new session, to close it later; a URI that is not a session URI of this BMC is never deleted."""
        self.key = client.get_session_key()
        if not self.key:
            return
        self.wire.hiding = self.wire.hiding.also(self.key)
        value = client.last.getheader("Location") if client.last is not None else None
        if value is None and client.last is not None:  # contrary to the standard; the body may have the URI
            body = parsed(client.last.read, self.wire.hiding)
            named = None if isinstance(body, Unknown) else body.get("@odata.id")
            value = named if isinstance(named, str) else None
        place = session_place(self.bmc.url, value, (self.place, SESSIONS))
        if place is not None:
            self.taken.append((place, self.key))
            return
        named = clean(self.wire.hiding.text(value or "empty"), 100)
        self.left = Unknown(
            Reason.NOT_COLLECTED,
            f"{LEFT}: its URI is {named}, which is not a session of this BMC",
        )

    def _asked(self, uri: str, *, once: bool = False) -> HttpReply | Unknown:
        """Send a GET, and retry it after temporary errors; if `once` is true, retry only after a lost session."""
        attempt = 0
        again = False
        while True:
            with self.lock:
                if self.over is None and self.gets >= self.limits.gets:
                    self.over = Unknown(Reason.TOO_LARGE, f"more than {self.limits.gets} GETs")
                if self.over is not None:
                    return self.over
                self.gets += 1
                logins, client = self.logins, self._client(2**attempt, 1 if once else patience(uri))
            answer: HttpReply | None = None
            began = time.monotonic()
            try:
                answer = client.get(uri)
                self.mine.seconds = time.monotonic() - began
            except RequestFault as fault:
                trouble, worth = fault.unknown, not once and self._again(fault, attempt)
            if answer is not None:
                self.dead = 0
                if answer.status == 401 and not again and self._back_in(logins):
                    again = True  # no second login for a resource that still refuses us
                    continue
                if answer.status == 401 and self.over is BASIC_REJECTED:
                    return BASIC_REJECTED
                self.welcome = self.welcome or (self.logins > 0 and answer.status < 400)
                if answer.status == 200:
                    self.spelt[uri.rstrip("/").casefold()] = uri.rstrip("/")
                if answer.status not in BUSY:
                    return answer
                text = message(answer, self.wire.hiding)
                trouble, worth = Unknown(Reason.NOT_READY, f"HTTP {answer.status}{text}"), not once
            self.width = 1
            if not worth or attempt >= self.limits.retries or not self._pause(attempt, answer):
                return self.over or trouble
            attempt += 1

    def _again(self, fault: RequestFault, attempt: int) -> bool:
        """Return whether to retry a GET without a reply; after `DEAD` resources without a reply, reading ends."""
        why = fault.unknown
        if why.reason is Reason.CERTIFICATE_CHANGED:
            self.over = self.over or why
        if why.reason not in {Reason.TIMEOUT, Reason.UNREACHABLE}:
            return fault.again
        again = fault.again and self.logins > 0 and (attempt == 0 or why.reason is Reason.UNREACHABLE)
        if not again or attempt >= self.limits.retries:
            self.dead += 1
            if self.dead >= DEAD:
                self.over = self.over or why
        return again

    def _back_in(self, logins: int) -> bool:
        """Log in again after a GET was rejected with status 401; return whether to retry the GET."""
        with self.lock:
            if self.logins == 0 or self.over is not None:
                return False
            if self.logins != logins:
                return True
            if not self.welcome and (self.logins > 1 or self.basic is not None):
                # Repeated wrong passwords lock the user.
                self.over = SESSION_REJECTED if self.is_rejected else Unknown(Reason.DENIED, "HTTP 401")
                if self.spared:
                    UNCLOSED.bar(self.bmc)
                    self.over = BASIC_REJECTED
                return False
            if self.logins >= LOGINS or self.basic is not None:
                return False
            self.over = self._login()
            return self.over is None

    @property
    def is_rejected(self) -> bool:
        """Whether the BMC opened two sessions and has not accepted a GET with either of them."""
        opened = self.logins > 1 and self.basic is None and self.over in {None, SESSION_REJECTED}
        return opened and not self.welcome

    def _pause(self, attempt: int, answer: HttpReply | None) -> bool:
        """Wait before a retry: as long as Retry-After, else longer with each attempt.

        Returns false if the remaining time is too short for a retry.
        """
        asked = None if answer is None else answer.getheader("Retry-After")
        seconds = self.limits.pause * 2**attempt * random.uniform(0.5, 1.5)  # noqa: S311  jitter is not a secret
        if asked is not None and re.fullmatch(r"\s*\d{1,9}\s*", asked):
            seconds = float(asked)
        return seconds < self.until - time.monotonic() and not self.halt.wait(seconds)
