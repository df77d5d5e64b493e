"""The requests on the wire: a GET that is sent without `requests` has the bytes that `requests` would send."""

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from redfish.rest.v1 import HttpClient

from rackcheck.sim.certificate import certificate
from rackcheck.sim.listeners import Doors
from rackcheck.transport.redfish.tls import PLAIN, Client, PinnedTls, trust

REPLY = b'HTTP/1.1 200 OK\r\nETag: "7"\r\nX-Echo: secret\r\nContent-Length: 2\r\n\r\n{}'


class Recorder:
    """An HTTPS server that records the requests, and answers each with `REPLY`."""

    def __init__(self, folder: Path) -> None:
        made = certificate(folder)
        self.fingerprint = made.fingerprint
        self.seen: list[bytes] = []
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(made.file)
        self._lock = threading.Lock()

    def serve(self, line: socket.socket) -> None:
        data = b""
        with self._context.wrap_socket(line, server_side=True) as talk:
            while piece := talk.recv(65536):
                data += piece
                while b"\r\n\r\n" in data:
                    head, _, data = data.partition(b"\r\n\r\n")
                    with self._lock:
                        self.seen.append(head)
                    talk.sendall(REPLY)


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[tuple[Client, list[bytes]]]:
    server, doors = Recorder(tmp_path), Doors()
    host, port = doors.open(("127.0.0.1", 0), server.serve)
    url = f"https://{host}:{port}"
    wire = PinnedTls(url, trust(server.fingerprint, None), server.fingerprint, cap=1 << 16)
    client = Client(url, "root", "calvin", wire)
    client.timeout = (5, 5, 5)
    yield client, server.seen
    wire.cut()
    doors.close()


@pytest.mark.parametrize(
    ("token", "basic"), [(None, None), ("t0ken", None), (None, "Basic cm9vdDpjYWx2aW4="), ("t0ken", "Basic cm9v")]
)
@pytest.mark.parametrize(
    "path", ["/redfish/v1/", "/redfish/v1/Systems/System.Embedded.1", "/redfish/v1/Chassis/~A-b_0"]
)
def test_a_get_has_the_bytes_that_requests_would_send(
    recorded: tuple[Client, list[bytes]], path: str, token: str | None, basic: str | None
) -> None:
    client, seen = recorded
    client.set_session_key(token)
    client.set_authorization_key(basic)
    ours, theirs = client.get(path), HttpClient.get(client, path)
    assert seen[0] == seen[1]
    assert seen[0].startswith(f"GET {path} HTTP/1.1\r\n".encode())
    assert (ours.status, ours.read, ours.getheader("etag"), ours.getheader("x-none")) == (200, b"{}", '"7"', None)
    assert [theirs.status, theirs.read] == [ours.status, ours.read]
    assert theirs.getheader("ETag") == ours.getheader("ETag")


def test_after_a_login_or_a_lost_session_the_next_request_has_the_new_token(
    recorded: tuple[Client, list[bytes]],
) -> None:
    client, seen = recorded
    for token in ("first", "second", None):
        client.set_session_key(token)
        client.get("/redfish/v1/Systems")
    assert [b"first" in head for head in seen] == [True, False, False]
    assert [b"second" in head for head in seen] == [False, True, False]
    assert [b"X-Auth-Token" in head for head in seen] == [True, True, False]


@given(st.from_regex(PLAIN.pattern, fullmatch=True))
def test_requests_changes_nothing_in_a_plain_path(path: str) -> None:
    assert requests.Request("GET", f"https://bmc{path}").prepare().path_url == path


@pytest.mark.parametrize(
    "path",
    ["", "/", "//evil/x", "/a/../b", "/./a", "/a//b", "/a%2e", "/a?b", "/a#b", "/a b", "/a\r\nX: y", "a/b", "/é"],
)
def test_other_paths_are_left_to_requests(path: str) -> None:
    assert PLAIN.fullmatch(path) is None
