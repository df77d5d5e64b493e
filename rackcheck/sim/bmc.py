"""A simulated BMC: HTTPS/1.1, sessions, a role that only reads, few workers, and faults that are declared."""

import base64
import contextlib
import http.server
import json
import secrets
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SESSIONS = "/redfish/v1/SessionService/Sessions"
FOREVER = 1 << 60


@dataclass
class Fault:
    """What goes wrong with one resource (`/redfish/v1/...`, `POST login`, or `*` for every one), and how often.

    Kinds: hang drip drip-headers flood chunked-flood cut reset, and `answer` with a status, headers and a body.
    """

    kind: str = "answer"
    times: int = FOREVER
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b"{}"


def busy(
    times: int = FOREVER, retry_after: str | None = None, message: str = "Base.1.0.ServiceTemporarilyUnavailable"
) -> Fault:
    """A 503 as BMCs give it: with a MessageId, and at times with Retry-After."""
    info = {"error": {"@Message.ExtendedInfo": [{"MessageId": message, "Message": "The service is busy."}]}}
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Fault(times=times, status=503, headers=headers, body=json.dumps(info).encode())


class Bmc:
    """What one BMC holds and how it behaves; `seen` counts what was asked of it, by method and URI.

    `limit` is how many sessions it keeps, `workers` how many requests it works at, `latency` the seconds each takes.
    Its user may read, open a session and close it: Redfish's ReadOnly role.
    """

    def __init__(
        self,
        bodies: Mapping[str, object] | None = None,
        *,
        faults: Mapping[str, Fault] | None = None,
        limit: int = 8,
        workers: int = 64,
        latency: float = 0.0,
        user: str = "root",
        password: str = "calvin",  # noqa: S107  a simulated BMC's, as Dell ships it
        has_sessions: bool = True,
        open_root: bool = True,
        slash: bool = False,
    ) -> None:
        self.bodies: Mapping[str, object] = bodies or {}
        self.faults = dict(faults or {})
        self.limit, self.has_sessions, self.open_root, self.slash = limit, has_sessions, open_root, slash
        self.latency, self.user, self.password = latency, user, password
        self.workers = threading.Semaphore(workers)
        self.seen: Counter[tuple[str, str]] = Counter()
        self.sessions: dict[str, str] = {}
        self.sent = 0
        self.in_flight = self.most_in_flight = 0
        self.connections = 0
        self.over = threading.Event()
        self.lock = threading.Lock()

    @property
    def gets(self) -> Counter[str]:
        """How often each URI was fetched."""
        return Counter({uri: n for (method, uri), n in self.seen.items() if method == "GET"})

    @property
    def methods(self) -> set[str]:
        """Every method that was sent."""
        return {method for method, _ in self.seen}

    def body(self, uri: str) -> bytes | None:
        """Give the body at a URI; none where there is none."""
        found = self.bodies.get(uri.rstrip("/"))
        return found if found is None or isinstance(found, bytes) else json.dumps(found).encode()

    def serve(self, line: socket.socket, context: ssl.SSLContext) -> None:
        """Serve one connection to its end."""
        line.settimeout(30)
        with contextlib.suppress(OSError), context.wrap_socket(line, server_side=True) as secure:
            self.connections += 1
            _Handler(secure, self)


def tls(certificate: Path) -> ssl.SSLContext:
    """Give the server's side of TLS with a certificate and its key in one file."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # one packet for head and body

    def __init__(self, line: ssl.SSLSocket, bmc: Bmc) -> None:
        self.bmc = bmc
        super().__init__(line, ("", 0), None)  # type: ignore[arg-type]  # nothing here asks for a server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's word
        """Say nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return lambda: self._serve(name.removeprefix("do_"))
        raise AttributeError(name)

    def _serve(self, method: str) -> None:
        bmc = self.bmc
        data = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), 1 << 20))
        uri = self.path
        with bmc.lock:
            bmc.seen[method, uri] += 1
            bmc.in_flight += 1
            bmc.most_in_flight = max(bmc.most_in_flight, bmc.in_flight)
        try:
            with bmc.workers:
                bmc.over.wait(bmc.latency)
                self._answer(method, uri, data)
        finally:
            with bmc.lock:
                bmc.in_flight -= 1

    def _answer(self, method: str, uri: str, data: bytes) -> None:
        bmc = self.bmc
        fault = self._fault(method, uri)
        if fault is not None:
            self._go_wrong(fault)
        elif method == "POST" and uri.rstrip("/") == SESSIONS:
            self._login(data)
        elif not self._let_in(uri):
            self._say(401, _error("Base.1.0.NoValidSession"))
        elif method == "DELETE" and uri.startswith(f"{SESSIONS}/"):
            gone = bmc.sessions.pop(uri.rpartition("/")[2], None)
            self._say(200 if gone else 404, b"{}")
        elif method in {"GET", "HEAD"}:
            body = None if bmc.slash and not uri.endswith("/") else bmc.body(uri)
            self._say(404, b"") if body is None else self._say(200, body)
        else:
            self._say(403, _error("Base.1.0.InsufficientPrivilege"))

    def _fault(self, method: str, uri: str) -> Fault | None:
        if method == "DELETE":
            return None
        for name in ("POST login",) if method == "POST" else (uri.rstrip("/"), "*"):
            fault = self.bmc.faults.get(name)
            if fault is not None and fault.times > 0:
                fault.times -= 1
                return fault
        return None

    def _let_in(self, uri: str) -> bool:
        bmc = self.bmc
        if uri.rstrip("/") == "/redfish/v1" and bmc.open_root:
            return True
        if self.headers.get("X-Auth-Token") in bmc.sessions.values():
            return True
        word = base64.b64encode(f"{bmc.user}:{bmc.password}".encode()).decode()
        return self.headers.get("Authorization") == f"Basic {word}"

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
        return self._say(201, b"{}", {"X-Auth-Token": token, "Location": f"{SESSIONS}/{name}"})

    def _say(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _go_wrong(self, fault: Fault) -> None:
        self.close_connection = fault.kind != "answer"
        match fault.kind:
            case "answer":
                self._say(fault.status, fault.body, fault.headers)
            case "hang":
                self.bmc.over.wait(600)
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
    """Give a BMC's own time as Redfish spells it, `skew` seconds away from ours."""
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() + skew))
