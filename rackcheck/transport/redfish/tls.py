"""HTTPS to one BMC: verified by fingerprint or CA, with size limits; another thread aborts slow connections."""

import io
import logging
import socket
import ssl
import threading
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from http.client import IncompleteRead
from queue import LifoQueue
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

import urllib3
from redfish.rest.v1 import HttpClient, RestResponse, RetriesExhaustedError
from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from requests.sessions import merge_setting
from requests.structures import CaseInsensitiveDict
from urllib3 import exceptions as wrong
from urllib3.connection import HTTPSConnection

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.regex import regex
from rackcheck.model.secret_filter import Hiding
from rackcheck.transport.memory import Allowance
from rackcheck.transport.redfish.answer import HttpReply
from rackcheck.transport.redfish.handshake import Handshake

# urllib3 logs BMC replies and a session's token at levels that a user may enable, and warns on stderr.
logging.getLogger("redfish").setLevel(logging.CRITICAL + 1)
warnings.filterwarnings("ignore", module=r"redfish\.")

logging.getLogger("urllib3.connection").setLevel(logging.ERROR)
logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)

CHUNK = 1 << 16
SMALL = 1 << 18
"""Number of bytes of each body that are not counted; with up to four threads, they take little memory."""

COPIES = 3
"""Number of times that a body is in memory when it was received, because the HTTP libraries copy it."""

LATE = "the answer was not complete in time"
FRAMING = frozenset({"content-encoding", "content-length", "transfer-encoding"})
OURS = frozenset({"x-auth-token", "location"})
"""Reply headers in which credentials are not masked, because the session's token and URI are read from them.

The headers X-Auth-Token and Location are never stored or shown unmasked.
"""


class RequestFault(Exception):
    """The error of a request without a reply.

    `again` is true if a retry may help, and `dropped` is true if the BMC closed the connection.
    """

    def __init__(self, reason: Reason, detail: str, *, again: bool = False, dropped: bool = False) -> None:
        super().__init__(detail)
        self.unknown = Unknown(reason, clean(detail, 400))
        self.again, self.dropped = again, dropped


@dataclass
class _Flight:
    """A request in flight: the deadline for its whole reply, and the connection to abort at the deadline.

    `handshake` is the maximum time (s) for TLS on a new connection; it ends before the deadline.
    """

    until: float
    handshake: float = 0.0
    line: socket.socket | None = None
    late: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply: the names of headers are in lower case, and our credentials are masked."""

    status: int
    read: bytes
    headers: Mapping[str, str]

    def getheader(self, name: str) -> str | None:
        """Return a header, or None if it is missing."""
        return self.headers.get(name.lower())


class PinnedTls(HTTPAdapter):
    """All connections to one BMC; requests to other hosts are rejected, and the defaults of `requests` do not apply."""

    def __init__(
        self,
        url: str,
        trust: ssl.SSLContext,
        fingerprint: str | None,
        *,
        cap: int,
        width: int = 2,
        handshake: float = 10.0,
        hiding: Hiding | None = None,
        allowance: Allowance | None = None,
    ) -> None:
        super().__init__(max_retries=0)
        self.allowance = allowance or Allowance()
        self.received: dict[int, int] = {}
        self.hiding = hiding or Hiding()
        place = urlsplit(url)
        self.host, self.port = place.hostname or "", place.port or 443
        self.origin = f"{place.scheme}://{place.netloc}/"
        self.fingerprint, self.cap, self.width, self.closed = fingerprint, cap, width, False
        self.longest_handshake = handshake
        self.flights: dict[int, _Flight] = {}
        self.lines: WeakSet[socket.socket] = WeakSet()
        self.trust = trust
        self.handshake: Handshake | None = None
        self.pool: _Pool
        self.reopen()

    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,  # noqa: ARG002  the adapter's own signature
        timeout: Any = None,
        verify: Any = True,  # noqa: ARG002
        cert: Any = None,  # noqa: ARG002
        proxies: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> Response:
        """Send one request and read its reply, up to the size limit; raises RequestFault for every kind of failure."""
        if not (request.url or "").startswith(self.origin) or request.method not in {"GET", "POST", "DELETE"}:
            raise RequestFault(Reason.NOT_COLLECTED, "request not sent: only this BMC is read, and nothing is changed")
        body = request.body if isinstance(request.body, (str, bytes)) else None
        headers = {name: str(value) for name, value in request.headers.items()}
        found = self.exchange(request.method, request.path_url, headers, timeout, body)
        kept = urllib3.HTTPResponse(io.BytesIO(found.read), found.headers, found.status, preload_content=False)
        return self.build_response(request, kept)

    def exchange(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        timeout: tuple[float, float, float],
        body: str | bytes | None = None,
    ) -> "Reply":
        """Send one request and read its reply, up to the size limit; raises RequestFault for every kind of failure.

        `timeout` has the seconds for the connection, for each wait for data, and for the whole reply.
        """
        connect, read, whole = timeout
        flight = self.flights[threading.get_ident()] = _Flight(time.monotonic() + whole)
        try:
            raw = self.pool.urlopen(
                method,
                path,
                body=body,
                headers=headers,
                retries=False,
                redirect=False,
                assert_same_host=False,
                preload_content=False,
                timeout=urllib3.Timeout(connect=connect, read=read),
            )
            try:
                content = self._body(raw)
            except BaseException:
                raw.close()
                raise
        except RequestFault:
            raise
        except Exception as error:  # noqa: BLE001  a network error is a value of this BMC
            raise self._fault(error, flight, connect, read) from None
        finally:
            self.flights.pop(threading.get_ident(), None)
        if self.closed or flight.late:
            raise RequestFault(Reason.TIMEOUT, LATE)  # a cut connection may look like the end of an empty reply
        kept = {
            name: value if name in OURS else self.hiding.text(value)
            for name, value in ((name.casefold(), value) for name, value in raw.headers.items())
            if name not in FRAMING
        }
        return Reply(raw.status, self.hiding.data(content), kept)

    def _body(self, raw: urllib3.BaseHTTPResponse) -> bytes:
        """Read a body; its memory is held until the next reply to the same thread, as its client keeps the last one."""
        message = raw.headers.get("Content-Length", "")
        body = bytearray()
        self._hold(0)
        if not (message.isdecimal() and int(message[:19]) > self.cap):
            for chunk in raw.stream(CHUNK, decode_content=True):
                body += chunk
                if len(body) > self.cap:
                    break
                self._hold(len(body))
            else:
                return bytes(body)
        raise RequestFault(Reason.TOO_LARGE, f"more than {self.cap >> 10} KiB in one answer")

    def _hold(self, size: int) -> None:
        """Hold the memory for a body of this size, in place of the thread's last one; raises RequestFault without it.

        The first `SMALL` bytes are not counted: they are part of each allowance.
        """
        thread = threading.get_ident()
        more = COPIES * max(0, size - SMALL) - self.received.get(thread, 0)
        if more > 0:
            why = self.allowance.add(more)
            if why is not None:
                raise RequestFault(why.reason, why.detail)
        elif size:
            return
        else:
            self.allowance.give(-more)
        self.received[thread] = self.received.get(thread, 0) + more

    def forget(self) -> None:
        """Return the memory of all bodies, when no thread uses its client any more."""
        self.allowance.give(sum(self.received.values()))
        self.received.clear()

    def tend(self) -> None:
        """Abort replies that take too long, even if data still arrives."""
        for flight in list(self.flights.values()):
            if time.monotonic() > flight.until and flight.line is not None:
                flight.late = True
                _cut(flight.line)

    def cut(self) -> None:
        """Abort every connection, from any thread; no request is sent until `reopen` is called."""
        self.closed = True
        for line in list(self.lines):
            _cut(line)

    def renew(self) -> None:
        """Close the idle connections; the next request opens a new connection."""
        old, self.pool = self.pool, self._made()
        old.close()

    def reopen(self) -> None:
        """Allow requests again, over new connections."""
        self.pool = self._made()
        self.closed = False

    def _made(self) -> "_Pool":
        pool = _Pool(
            self.host,
            self.port,
            maxsize=self.width,
            ssl_context=self.trust,
            cert_reqs=self.trust.verify_mode,
            assert_fingerprint=self.fingerprint,
        )
        pool.ConnectionCls = _line(self)
        return pool

    def _fault(self, error: Exception, flight: _Flight, connect: float, read: float) -> RequestFault:
        if self.closed or flight.late:
            return RequestFault(Reason.TIMEOUT, LATE)
        match error:
            case wrong.SSLError() if flight.line is None:
                return self._distrust(error, max(connect, flight.handshake))
            case wrong.NewConnectionError():
                why = error.__cause__ or error
                return RequestFault(Reason.UNREACHABLE, getattr(why, "strerror", None) or str(why), again=True)
            case wrong.ConnectTimeoutError():
                return RequestFault(Reason.TIMEOUT, f"no connection within {connect:g} s", again=True)
            case wrong.TimeoutError() if flight.line is None:
                return RequestFault(Reason.TIMEOUT, f"no TLS handshake: {_silent(flight.handshake)}", again=True)
            case wrong.TimeoutError():
                return RequestFault(Reason.TIMEOUT, _silent(read), again=True)
            case wrong.ProtocolError() if isinstance(error.__cause__, IncompleteRead):
                return RequestFault(Reason.UNPARSABLE, "the answer was cut short", again=True)
            case wrong.ProtocolError() | wrong.SSLError():
                return RequestFault(Reason.UNREACHABLE, "the BMC closed the connection", again=True, dropped=True)
        return RequestFault(Reason.UNPARSABLE, f"not an HTTP answer: {type(error).__name__}")

    def _distrust(self, error: wrong.SSLError, seconds: float) -> RequestFault:
        """Return the error for a failed TLS handshake; for an untrusted certificate, it contains the fingerprints.

        No request was sent over the failed connection.
        """
        try:
            found = shown(certificate(self.host, self.port, seconds))
        except OSError as refused:
            return RequestFault(Reason.UNREACHABLE, _no_tls(refused), again=True)
        if self.fingerprint is not None and shown(self.fingerprint) != found:
            return RequestFault(Reason.CERTIFICATE_CHANGED, f"expected {shown(self.fingerprint)}, found {found}")
        why = error.args[0] if error.args else error
        if isinstance(why, str) and self.fingerprint is not None:  # another connection presented another certificate
            return RequestFault(
                Reason.CERTIFICATE_CHANGED,
                f"expected {found}, but a different connection to this BMC presented a different certificate",
            )
        if not isinstance(why, ssl.SSLCertVerificationError):
            return RequestFault(Reason.UNREACHABLE, _no_tls(why), again=True)
        return RequestFault(
            Reason.CERTIFICATE_CHANGED,
            f"not trusted: {why.verify_message}; found {found}; if it is the BMC's own, pin it: fingerprint: ...",
        )


OLD = regex(r"PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|HANDSHAKE_FAILURE|NO_SHARED_CIPHER|KEY_TOO_SMALL|NO_CIPHERS")
"""OpenSSL's errors for a failed handshake with a server that supports only unsafe TLS versions, ciphers or keys."""


def _silent(seconds: float) -> str:
    """Return how long a BMC was silent; a limit that the deadline has shortened may have any number of digits."""
    return f"silent for {round(seconds, 1):g} s" if seconds >= 0.1 else "silent until the deadline"


def _no_tls(why: BaseException) -> str:
    """Return why the TLS handshake failed; if the TLS version of the BMC is too old, the text contains a remedy."""
    old = "it offers only TLS versions, ciphers or keys that are no longer safe; update its firmware: "
    return f"no TLS with this BMC: {old if OLD.search(str(why)) else ''}{why}"


class _Ready(LifoQueue[Any]):
    """A connection queue that prefers open connections, because a BMC may not accept new connections."""

    def _put(self, item: object) -> None:
        if item is None:
            self.queue.insert(0, item)
        else:
            self.queue.append(item)


class _Pool(urllib3.HTTPSConnectionPool):
    QueueCls = _Ready


def _line(wire: PinnedTls) -> type[HTTPSConnection]:
    """Return a connection class that registers its sockets in `wire`, so that blocked connections can be aborted.

    TLS has a time limit of its own; the limit for the connection applies until the BMC accepts it.
    """

    class Line(HTTPSConnection):
        before_tls: socket.socket | None = None

        def _new_conn(self) -> socket.socket:
            plain = super()._new_conn()
            flight = wire.flights.get(threading.get_ident())
            if flight is not None:
                flight.handshake = max(0.01, min(wire.longest_handshake, flight.until - time.monotonic()))
                plain.settimeout(flight.handshake)
            self.before_tls = plain.dup()  # `plain` is closed when TLS begins, and its successor is not known yet
            wire.lines.add(self.before_tls)
            return plain

        def connect(self) -> None:
            try:
                super().connect()
            finally:
                if self.before_tls is not None:
                    self.before_tls.close()
            assert self.sock is not None
            wire.lines.add(self.sock)
            if wire.handshake is None and isinstance(self.sock, ssl.SSLSocket):
                wire.handshake = Handshake.of(self.sock)

        def request(self, *args: Any, **more: Any) -> None:
            flight = wire.flights.get(threading.get_ident())
            if flight is not None:
                flight.line = self.sock
            if wire.closed:
                raise TimeoutError
            super().request(*args, **more)

    return Line


PLAIN = regex(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)+/?")
"""Matches paths that `requests` sends as they are; it normalizes others."""


class Client(HttpClient):  # type: ignore[misc]  # the library ships no types
    """The DMTF's Redfish client without retries and redirects; the last reply is kept, also after a failed login.

    A GET of a plain path is sent without `requests`, which takes a third of the client's time to prepare each request
    anew. The headers are the same.
    """

    def __init__(self, url: str, user: str, password: str, wire: PinnedTls) -> None:
        super().__init__(url, user, password, max_retry=0, check_connectivity=False, https_adapter=wire)
        self._session.trust_env = False  # no proxy, and no password from ~/.netrc instead of ours
        self._session.headers["Accept-Encoding"] = "identity"
        self.wire = wire
        self.last: HttpReply | None = None
        self.timeout: tuple[float, float, float] = (0, 0, 0)
        self._own: Mapping[str, str] = {}
        self._all: Mapping[str, str] = {}

    def get(self, path: str, *args: Any, **more: Any) -> HttpReply:
        """Send a GET; raises RequestFault without a reply."""
        if args or more or not PLAIN.fullmatch(path):
            found: HttpReply = super().get(path, *args, **more)
            return found
        own = self._get_req_headers()
        if own != self._own:  # after a login
            self._own, self._all = own, dict(merge_setting(own, self._session.headers, CaseInsensitiveDict))
        self.last = self.wire.exchange("GET", path, self._all, self.timeout)
        return self.last

    def _rest_request(self, *args: Any, **more: Any) -> RestResponse:
        more |= {"allow_redirects": False, "timeout": self.timeout, "max_retry": 0}
        try:
            self.last = reply = super()._rest_request(*args, **more)
        except RetriesExhaustedError as error:
            why = error.__cause__
            raise (
                why if isinstance(why, RequestFault) else RequestFault(Reason.UNPARSABLE, type(why).__name__)
            ) from None
        return reply


def trust(fingerprint: str | None, ca: str | None) -> ssl.SSLContext:
    """Return the TLS context: with the CA file if set, without CAs for a pinned certificate, else with system CAs."""
    if fingerprint is None or ca is not None:
        return ssl.create_default_context(cafile=ca)
    return _unverified()  # the certificate is compared with the fingerprint before anything is sent


def shown(fingerprint: str) -> str:
    """Format a fingerprint in upper case with colons: `AB:CD:...`."""
    return ":".join(fingerprint[i : i + 2] for i in range(0, len(fingerprint), 2)).upper()


def certificate(host: str, port: int, seconds: float, context: ssl.SSLContext | None = None) -> str:
    """Return the fingerprint of the certificate, which is verified only with a context that does it.

    This opens a connection of its own, and sends no request over it. Raises OSError if there is no TLS.
    """
    with (
        socket.create_connection((host, port), seconds) as plain,
        (context or _unverified()).wrap_socket(plain, server_hostname=host) as line,
    ):
        return sha256(line.getpeercert(binary_form=True) or b"").hexdigest()


def _unverified() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _cut(line: socket.socket) -> None:
    with suppress(OSError):
        socket.socket.shutdown(line, socket.SHUT_RDWR)  # not SSLSocket's: it would pass on ciphertext
