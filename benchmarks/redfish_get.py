"""CPU time of one GET of a BMC's resource of 1.2 KB, with its JSON: our client, DMTF's, and a loop of http.client.

The server is another process, and answers at once. All clients use one connection, check the certificate, and take
turns within each round; printed is the CPU time of the thread of the client.

    python benchmarks/redfish_get.py [--rounds 5] [--gets 1000]
"""

import argparse
import hashlib
import http.client
import json
import multiprocessing
import socket
import ssl
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.pop(0)  # this folder: one of its files has the name of the DMTF's library

from redfish.rest.v1 import HttpClient

from rackcheck.sim.certificate import certificate
from rackcheck.transport.redfish import tls
from rackcheck.transport.redfish.answer import body_of

PATH = "/redfish/v1/Systems/System.Embedded.1"
MEMBERS = [{"@odata.id": f"{PATH}/Processors/CPU.Socket.{number}"} for number in range(16)]
BODY = json.dumps({"@odata.id": PATH, "Status": {"State": "Enabled", "Health": "OK"}, "Members": MEMBERS}).encode()
HEADERS = (
    "Content-Type: application/json;charset=utf-8", "Server: Apache", "Date: Sun, 29 Nov 2026 12:00:00 GMT",
    "OData-Version: 4.0", "Cache-Control: no-cache", 'ETag: W/"gen-1"', "X-Frame-Options: DENY",
    f"Content-Length: {len(BODY)}",
)  # fmt: skip
REPLY = "\r\n".join(("HTTP/1.1 200 OK", *HEADERS, "", "")).encode() + BODY


def serve(file: str, place: Connection) -> None:
    """Answer each request with the same reply."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    listener = socket.create_server(("127.0.0.1", 0))
    place.send(listener.getsockname()[1])

    def talk(plain: socket.socket) -> None:
        with context.wrap_socket(plain, server_side=True) as line:
            data = b""
            while piece := line.recv(65536):
                data += piece
                while b"\r\n\r\n" in data:
                    data = data.partition(b"\r\n\r\n")[2]
                    line.sendall(REPLY)

    while True:
        threading.Thread(target=talk, args=(listener.accept()[0],), daemon=True).start()


def clients(port: int, fingerprint: str) -> dict[str, Callable[[], object]]:
    """Return a function for each client that gets the resource and returns its body."""
    url = f"https://127.0.0.1:{port}"
    wire = tls.PinnedTls(url, tls.trust(fingerprint, None), fingerprint, cap=1 << 20)
    ours = tls.Client(url, "user", "password", wire)
    ours.timeout = (5, 5, 5)
    theirs = HttpClient(url, "user", "password", check_connectivity=False)
    bare = http.client.HTTPSConnection("127.0.0.1", port, context=tls.trust(fingerprint, None))
    bare.connect()
    assert isinstance(bare.sock, ssl.SSLSocket)
    assert hashlib.sha256(bare.sock.getpeercert(binary_form=True) or b"").hexdigest() == fingerprint

    def bare_get() -> object:
        bare.request("GET", PATH, headers={"Accept": "application/json"})
        return json.loads(bare.getresponse().read())

    return {
        "http.client": bare_get,
        "rackcheck": lambda: body_of(ours.get(PATH), wire.hiding),
        f"DMTF redfish {version('redfish')}": lambda: theirs.get(PATH).dict,
    }


def main() -> None:
    """Print the CPU time of a GET of each client."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--gets", type=int, default=1000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = certificate(Path(folder))
        here, there = multiprocessing.Pipe()
        server = multiprocessing.Process(target=serve, args=(made.file, there), daemon=True)
        server.start()
        known = clients(here.recv(), made.fingerprint.replace(":", "").lower())
        took: dict[str, list[float]] = {name: [] for name in known}
        for _ in range(given.rounds):
            for name, get in known.items():
                assert get() == json.loads(BODY)
                began = time.thread_time()
                for _ in range(given.gets):
                    get()
                took[name].append((time.thread_time() - began) / given.gets * 1e6)
        server.terminate()
    least = statistics.median(took["http.client"])
    for name, values in took.items():
        middle = statistics.median(values)
        print(f"{name:<24} {middle:7.0f} us  {middle / least:5.2f}")


if __name__ == "__main__":
    main()
