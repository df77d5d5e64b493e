"""What a simulated BMC does with requests that no client of ours sends."""

import socket
import ssl
from urllib.parse import urlsplit

import pytest
from small_bmc import small

ROOT = b"GET /redfish/v1/ HTTP/1.1\r\n"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /redfish/v1/\r\n\r\n",
        b"GET  /redfish/v1/ HTTP/1.1\r\n\r\n",
        b"GET /redfish/v1/ HTTP/1.0\r\n\r\n",
        b"\x16\x03\x01\r\n\r\n",
        ROOT + b"X-A: b\r\n" * 200 + b"\r\n",
        ROOT + b"".join(b"X-%d: b\r\n" % number for number in range(200)) + b"\r\n",
    ],
)
def test_a_request_in_another_form_is_rejected_and_ends_the_connection(request_bytes: bytes) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with small() as server:
        place = urlsplit(server.url)
        with socket.create_connection((place.hostname, place.port), 10) as plain, context.wrap_socket(plain) as line:
            line.sendall(request_bytes + ROOT + b"\r\n")
            reply = b""
            while piece := line.recv(65536):
                reply += piece
        assert reply.startswith(b"HTTP/1.1 400 ")
        assert reply.count(b"HTTP/1.1 ") == 1, "what follows is not read"
        assert not server.seen
