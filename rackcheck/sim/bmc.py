"""Simulates a BMC: an HTTPS server with sessions, a read-only user, a limited number of workers, and faults."""

import base64
import contextlib
import http.server
import json
import re
import secrets
import select
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rackcheck.sim import expand_query
from rackcheck.sim.bad_answers import TWISTS, TwistedReply

SESSIONS = "/redfish/v1/SessionService/Sessions"
FOREVER = 1 << 60


@dataclass
class ResourceFault:
    """A fault of a resource or of the login; `times` is the number of requests that it affects.

    In `SimBmc.faults`, a fault is stored under a URI, `POST login` or `DELETE session`; a fault under `*` affects all
    URIs without their own fault. `kind` is one of `KINDS`, or `answer` for a reply with the status, headers and body of
    the fault.
    """

    kind: str = "answer"
    times: int = FOREVER
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b"{}"

    def __post_init__(self) -> None:
        if self.kind not in {"answer", *KINDS}:
            raise ValueError(f"unknown fault: {self.kind}")


KINDS = (
    *("hang", "drip", "drip-headers", "flood", "chunked-flood", "cut", "reset", "drop", "forget"),
    *TWISTS,
)
"""Kinds of wrong replies; `drop` closes the connection after a correct reply, `forget` deletes all sessions."""


def busy(
    times: int = FOREVER, retry_after: str | None = None, message: str = "Base.1.0.ServiceTemporarilyUnavailable"
) -> ResourceFault:
    """Return a fault that replies with status 503 and a MessageId, as BMCs do.

    If `retry_after` is set, the reply has a Retry-After header.
    """
    info = {"error": {"@Message.ExtendedInfo": [{"MessageId": message, "Message": "The service is busy."}]}}
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return ResourceFault(times=times, status=503, headers=headers, body=json.dumps(info).encode())


class SimBmc:
    """The data and the behaviour of one BMC; `seen` counts the requests by method and URI.

    `elsewhere` counts the requests over connections that did not use the BMC's first certificate. `limit` is the
    maximum number of sessions, `workers` the number of requests served in parallel, `latency` the duration of each
    request in seconds, and `lines` the maximum number of open connections. `expand` is one of `expand_query.WAYS`, or
    true or false for a BMC with or without $expand. A reply with expanded members takes `member` seconds longer for
    each of these members. The user has the Redfish role ReadOnly, and may only read resources and open and close
    sessions.
    """

    def __init__(  # noqa: PLR0913  all properties that a BMC can have, as keywords
        self,
        bodies: Mapping[str, object] | None = None,
        *,
        faults: Mapping[str, ResourceFault] | None = None,
        limit: int = 8,
        workers: int = 64,
        latency: float = 0.0,
        user: str = "root",
        password: str = "calvin",  # noqa: S107  the password of a simulated BMC: Dell's factory default
        has_sessions: bool = True,
        has_basic: bool = True,
        locates: bool = True,
        open_root: bool = True,
        slash: bool = False,
        lines: int = FOREVER,
        expand: bool | str = False,
        member: float = 0.0,
    ) -> None:
        self.bodies: Mapping[str, object] = bodies or {}
        self.faults = dict(faults or {})
        self.locates, self.limit, self.has_sessions, self.open_root, self.slash = (
            locates,
            limit,
            has_sessions,
            open_root,
            slash,
        )
        self.latency, self.user, self.password, self.has_basic = latency, user, password, has_basic
        self.member = member
        self.expand = "honest" if expand is True else expand or None
        if self.expand not in {None, *expand_query.WAYS}:
            raise ValueError(f"unknown variant of $expand: {expand}")
        self.workers = threading.Semaphore(workers)
        self.seen: Counter[tuple[str, str]] = Counter()
        self.sessions: dict[str, str] = {}
        self.lines, self.open_lines = lines, 0
        self.given: set[str] = set()
        self.writes: list[str] = []
        self.sent = self.elsewhere = 0
        self.in_flight = self.most_in_flight = 0
        self.connections = 0
        self.over = threading.Event()
        self.lock = threading.Lock()

    @property
    def gets(self) -> Counter[str]:
        """Return the number of GETs of each URI."""
        return Counter({uri: n for (method, uri), n in self.seen.items() if method == "GET"})

    @property
    def methods(self) -> set[str]:
        """Return the HTTP methods of all requests."""
        return {method for method, _ in self.seen}

    def body(self, uri: str) -> bytes | None:
        """Return the body at a URI as JSON; None if the resource does not exist."""
        found = self.bodies.get(uri.rstrip("/"))
        return found if found is None or isinstance(found, bytes) else json.dumps(found).encode()

    def reply(self, uri: str) -> TwistedReply:
        """Return the reply to a GET, without faults."""
        if self.slash and not uri.endswith("/"):
            return TwistedReply(404, b"")
        if self.expand is not None:
            return expand_query.reply_to(self.body, uri, self.expand)
        body = self.body(uri)
        return TwistedReply(404, b"") if body is None else TwistedReply(200, body)

    def misuse(self) -> list[str]:
        """Return all violations of read-only access: requests that change a resource, and sessions left open."""
        left = [f"a session was left open: {name}" for name in sorted(self.sessions)]
        return [*self.writes, *left]

    def note(self, method: str, uri: str) -> None:
        """Count a request, and record it as misuse if it changes anything except a session that the client opened."""
        self.seen[method, uri] += 1
        ours = (method == "POST" and uri.rstrip("/") == SESSIONS) or (
            method == "DELETE" and uri.rstrip("/") in self.given
        )
        if method not in {"GET", "HEAD"} and not ours:
            self.writes.append(f"{method} {uri}")

    def serve(self, line: socket.socket, *contexts: ssl.SSLContext) -> None:
        """Serve one connection until it ends; if there are several TLS contexts, connections use them in turn."""
        line.settimeout(30)
        with self.lock:
            number, self.connections = self.connections, self.connections + 1
            if self.open_lines >= self.lines:
                return
            self.open_lines += 1
        try:
            context = contexts[number % len(contexts)]
            with contextlib.suppress(OSError), context.wrap_socket(line, server_side=True) as secure:
                _Handler(secure, self, usual=context is contexts[0])
        finally:
            with self.lock:
                self.open_lines -= 1


def tls(certificate: Path) -> ssl.SSLContext:
    """Return a server-side TLS context with the certificate and the private key from one file."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


LONGEST, FIELDS = 1 << 16, 100
"""Maximum number of bytes of a header of a request, and of lines of its headers."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # one packet for head and body

    def __init__(self, line: ssl.SSLSocket, bmc: SimBmc, *, usual: bool) -> None:
        self.bmc, self.usual = bmc, usual
        self.fields: dict[str, str] = {}
        super().__init__(line, ("", 0), None)  # type: ignore[arg-type]  # nothing here needs a server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's word
        """Log nothing."""

    def parse_request(self) -> bool:
        """Parse a request without the parser for mail headers of the base class, which takes half of its time."""
        self.requestline = str(self.raw_requestline, "iso-8859-1").rstrip("\r\n")
        words = self.requestline.split(" ")
        self.command, self.path, self.request_version = words if len(words) == 3 else ("", "", "")
        self.fields = {}
        wrong = self.request_version != "HTTP/1.1"
        for _ in range(FIELDS):
            line = self.rfile.readline(LONGEST)
            if not line.strip():
                break
            name, _, value = str(line, "iso-8859-1").partition(":")
            self.fields[name.lower()] = value.strip()
        else:
            wrong = True
        self.close_connection = wrong or self.fields.get("connection", "").lower() == "close"
        if wrong:
            self.send_error(400, "Bad request")
            return False
        return True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return lambda: self._serve(name.removeprefix("do_"))
        raise AttributeError(name)

    def _serve(self, method: str) -> None:
        bmc = self.bmc
        data = self.rfile.read(min(int(self.fields.get("content-length") or 0), 1 << 20))
        uri = self.path
        with bmc.lock:
            bmc.note(method, uri)
            bmc.elsewhere += not self.usual
            bmc.in_flight += 1
            bmc.most_in_flight = max(bmc.most_in_flight, bmc.in_flight)
        try:
            with bmc.workers:
                if bmc.latency:
                    bmc.over.wait(bmc.latency)
                self._answer(method, uri, data)
        finally:
            with bmc.lock:
                bmc.in_flight -= 1

    def _answer(self, method: str, uri: str, data: bytes) -> None:
        bmc = self.bmc
        fault = self._fault(method, uri)
        if fault is not None:
            self._go_wrong(fault, uri)
        elif method == "POST" and uri.rstrip("/") == SESSIONS:
            self._login(data)
        elif not self._let_in(uri):
            self._say(401, _error("Base.1.0.NoValidSession"))
        elif method == "DELETE" and uri.startswith(f"{SESSIONS}/"):
            gone = bmc.sessions.pop(uri.rstrip("/").rpartition("/")[2], None)
            self._say(200 if gone else 404, b"{}")
        elif method in {"GET", "HEAD"}:
            reply = bmc.reply(uri)
            if bmc.member:
                bmc.over.wait(bmc.member * expand_query.members(uri, reply))
            self._say(reply.status, reply.body)
        else:
            self._say(403, _error("Base.1.0.InsufficientPrivilege"))

    def _fault(self, method: str, uri: str) -> ResourceFault | None:
        faults = self.bmc.faults
        page = uri.partition("?$skip=")[0].rstrip("/")
        named = {"POST": ("POST login",), "DELETE": ("DELETE session",)}
        names = named.get(method, (uri.rstrip("/"), page, "*"))
        fault = next((faults[name] for name in names if name in faults), None)  # its own fault first, even if used up
        with self.bmc.lock:
            if fault is None or fault.times <= 0:
                return None
            fault.times -= 1
        return fault

    def _let_in(self, uri: str) -> bool:
        bmc = self.bmc
        if uri.rstrip("/") == "/redfish/v1" and bmc.open_root:
            return True
        if self.fields.get("x-auth-token") in bmc.sessions.values():
            return True
        word = base64.b64encode(f"{bmc.user}:{bmc.password}".encode()).decode()
        return bmc.has_basic and self.fields.get("authorization") == f"Basic {word}"

    def _login(self, data: bytes) -> None:
        bmc = self.bmc
        if not bmc.has_sessions:
            return self._say(405, b"{}")
        try:
            asked = json.loads(data)
            given = (asked["UserName"], asked["Password"])
        except (ValueError, KeyError, TypeError):
            return self._say(400, _error("Base.1.0.MalformedJSON"))
        if given != (bmc.user, bmc.password):
            return self._say(401, _error("Base.1.0.InsufficientPrivilege"))
        name, token = secrets.token_hex(4), secrets.token_hex(16)
        with bmc.lock:
            full = len(bmc.sessions) >= bmc.limit
            if not full:
                bmc.sessions[name] = token
        if full:
            return self._say(503, _error("IDRAC.2.4.RAC0218"), {"Retry-After": "0"})
        place = f"{SESSIONS}/{name}"
        bmc.given.add(place)
        headers = {"X-Auth-Token": token} | ({"Location": place} if bmc.locates else {})
        return self._say(201, json.dumps({"@odata.id": place}).encode(), headers)

    def _say(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        values = {"Content-Type": "application/json", **(headers or {})}
        place = values.get("Location", "")
        if self.command == "POST" and re.fullmatch(rf"{SESSIONS}/(?!\.)[^/?#%\\]+", place):
            self.bmc.given.add(place)
        for name, value in values.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _go_wrong(self, fault: ResourceFault, uri: str) -> None:
        bmc = self.bmc
        self.close_connection = fault.kind != "answer" and fault.kind not in TWISTS
        match fault.kind:
            case "answer":
                self._say(fault.status, fault.body, fault.headers)
            case "hang":
                line = select.poll()
                line.register(self.connection, select.POLLIN)
                while not bmc.over.is_set() and not line.poll(100):
                    pass  # until the client disconnects
            case "drop":
                body = bmc.body(uri)
                self._say(404, b"") if body is None else self._say(200, body)
            case "forget":
                bmc.sessions.clear()
                self._say(401, _error("Base.1.0.NoValidSession"))
            case kind if kind in TWISTS:
                reply = TWISTS[kind](uri, bmc.body(uri.partition("?")[0]) or b"")
                self._say(reply.status, reply.body, reply.headers)
            case "reset":
                self.connection.shutdown(socket.SHUT_RDWR)
            case "cut":
                self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{"Id": "x"')
            case "drip":
                self._drip(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", b" " * 5000)
            case "drip-headers":
                self._drip(b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"a" * 5000)
            case "flood" | "chunked-flood":
                self._flood(chunked=fault.kind != "flood")

    def _drip(self, head: bytes, rest: bytes) -> None:
        self.wfile.write(head)
        for byte in rest:
            self.wfile.flush()
            if self.bmc.over.wait(0.02):
                return
            self.wfile.write(bytes((byte,)))

    def _flood(self, *, chunked: bool) -> None:
        how = b"Transfer-Encoding: chunked" if chunked else b"Connection: close"
        self.wfile.write(b"HTTP/1.1 200 OK\r\n" + how + b"\r\n\r\n")
        block = b" " * (1 << 16)
        for _ in range((1 << 30) // len(block)):
            self.wfile.write(b"10000\r\n" + block + b"\r\n" if chunked else block)
            self.bmc.sent += len(block)


def _error(message: str) -> bytes:
    return json.dumps({"error": {"@Message.ExtendedInfo": [{"MessageId": message, "Message": "No."}]}}).encode()


def now(skew: float = 0.0) -> str:
    """Return the time on a BMC's clock in Redfish's format; the clock is ahead by `skew` seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() + skew))
