"""A BMC of the tests: a recorded tree over real HTTPS, with logins that are checked and faults that are declared."""

import base64
import contextlib
import datetime as dt
import hashlib
import http.server
import ipaddress
import json
import secrets
import socket
import socketserver
import ssl
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

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


@dataclass
class Certificate:
    """A self-signed certificate in a file, with its key."""

    file: Path
    fingerprint: str


def certificate(folder: Path, name: str = "bmc") -> Certificate:
    """Make a certificate for 127.0.0.1 that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / f"{name}.pem"
    file.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    digest = hashlib.sha256(made.public_bytes(serialization.Encoding.DER)).hexdigest().upper()
    return Certificate(file, ":".join(digest[i : i + 2] for i in range(0, 64, 2)))


class Mockup:
    """A BMC that serves a tree: the folder path is the URI, the body lies in its index.json."""

    def __init__(
        self,
        tree: Path | None = None,
        *,
        bodies: Mapping[str, object] | None = None,
        faults: Mapping[str, Fault] | None = None,
        limit: int = 8,
        has_sessions: bool = True,
        open_root: bool = True,
        slash: bool = False,
        ignore_case: bool = False,
        latency: float = 0.0,
        user: str = "root",
        password: str = "calvin",
    ) -> None:
        self.tree, self.bodies, self.faults = tree, dict(bodies or {}), dict(faults or {})
        self.limit, self.has_sessions, self.open_root, self.slash = limit, has_sessions, open_root, slash
        self.ignore_case = ignore_case
        self.latency, self.user, self.password = latency, user, password
        self.seen: Counter[tuple[str, str]] = Counter()
        self.sessions: dict[str, str] = {}
        self.sent = 0
        self.in_flight = self.most_in_flight = 0
        self.connections = 0
        self.over = threading.Event()
        self.lock = threading.Lock()

    def __enter__(self) -> "Mockup":
        self.folder = tempfile.TemporaryDirectory()
        self.certificate = certificate(Path(self.folder.name))
        self.fingerprint = self.certificate.fingerprint
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate.file)
        self.server = _Server(("127.0.0.1", 0), _Handler, context, self)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()

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
        place = uri.rstrip("/")
        if place in self.bodies:
            return json.dumps(self.bodies[place]).encode()
        if self.tree is None or ".." in uri:
            return None
        folder: Path | None = self.tree
        for word in place.strip("/").split("/"):
            folder = self._below(folder, word) if folder is not None else None
        file = None if folder is None else folder / "index.json"
        return file.read_bytes() if file is not None and file.is_file() else None

    def _below(self, folder: Path, word: str) -> Path | None:
        if (folder / word).is_dir() or not self.ignore_case:
            return folder / word
        return next((f for f in folder.iterdir() if f.name.casefold() == word.casefold()), None)


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, place: tuple[str, int], handler: type["_Handler"], context: ssl.SSLContext, bmc: Mockup) -> None:
        self.context, self.bmc = context, bmc
        super().__init__(place, handler)

    def finish_request(self, request: Any, client_address: Any) -> None:
        request.settimeout(10)
        with contextlib.suppress(OSError), self.context.wrap_socket(request, server_side=True) as line:
            self.bmc.connections += 1
            super().finish_request(line, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that hang up are what is tested."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""

    @property
    def bmc(self) -> Mockup:
        return cast("_Server", self.server).bmc

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def do_PATCH(self) -> None:
        self._serve("PATCH")

    def do_PUT(self) -> None:
        self._serve("PUT")

    def do_HEAD(self) -> None:
        self._serve("HEAD")

    def _serve(self, method: str) -> None:
        bmc = self.bmc
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        uri = self.path
        with bmc.lock:
            bmc.seen[method, uri] += 1
            bmc.in_flight += 1
            bmc.most_in_flight = max(bmc.most_in_flight, bmc.in_flight)
        try:
            bmc.over.wait(bmc.latency)
            fault = self._fault(method, uri)
            if fault is not None:
                self._go_wrong(fault)
            elif method == "POST":
                self._login(data)
            elif not self._let_in(uri):
                self._say(401, _error("Base.1.0.NoValidSession"))
            elif method == "DELETE":
                gone = bmc.sessions.pop(uri.rpartition("/")[2], None)
                self._say(200 if gone else 404, b"{}")
            elif method == "GET":
                self._resource(uri)
            else:
                self._say(405, b"{}")
        finally:
            with bmc.lock:
                bmc.in_flight -= 1

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
        asked = json.loads(data)
        if (asked.get("UserName"), asked.get("Password")) != (bmc.user, bmc.password):
            return self._say(401, _error("Base.1.0.InsufficientPrivilege"))
        if len(bmc.sessions) >= bmc.limit:
            return self._say(503, _error("IDRAC.2.4.RAC0218"), {"Retry-After": "0"})
        name, token = secrets.token_hex(4), secrets.token_hex(16)
        bmc.sessions[name] = token
        return self._say(201, b"{}", {"X-Auth-Token": token, "Location": f"{SESSIONS}/{name}"})

    def _resource(self, uri: str) -> None:
        body = None if self.bmc.slash and not uri.endswith("/") else self.bmc.body(uri)
        self._say(404, b"") if body is None else self._say(200, body)

    def _say(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _go_wrong(self, fault: Fault) -> None:
        self.close_connection = fault.kind != "answer"
        match fault.kind:
            case "answer":
                self._say(fault.status, fault.body, fault.headers)
            case "hang":
                self.bmc.over.wait(20)
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


@contextlib.contextmanager
def silent_port() -> Iterator[str]:
    """Give the address of a port that lets everyone in and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"https://127.0.0.1:{server.getsockname()[1]}"


def refused_port() -> str:
    """Give the address of a port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"https://127.0.0.1:{server.getsockname()[1]}"
