"""The simulator's BMC for the tests: one server with a tree, and ports without a working server."""

import contextlib
import socket
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rackcheck.sim.bmc import FOREVER, SESSIONS, ResourceFault, SimBmc, busy, tls
from rackcheck.sim.certificate import certificate
from rackcheck.sim.listeners import Doors
from rackcheck.sim.rack import SimRack

__all__ = [
    "FOREVER",
    "SESSIONS",
    "Mockup",
    "ResourceFault",
    "WatchedRack",
    "busy",
    "certificate",
    "refused_port",
    "silent_port",
]


class Mockup(SimBmc):
    """A BMC that serves a tree: the folder path is the URI, the body is in its index.json.

    Clients must keep the law: the block ends in an AssertionError where anything except a GET was sent or a
    session stayed open. `loses` permits it to lose a session; with `flapping`, each second connection
    shows another certificate.
    """

    def __init__(
        self,
        tree: Path | None = None,
        *,
        bodies: Mapping[str, object] | None = None,
        ignore_case: bool = False,
        loses: bool = False,
        flapping: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(bodies, **more)
        self.tree, self.ignore_case = tree, ignore_case
        self.loses, self.flapping = loses, flapping

    def __enter__(self) -> "Mockup":
        self.folder = tempfile.TemporaryDirectory()
        self.certificate = certificate(Path(self.folder.name))
        self.fingerprint = self.certificate.fingerprint
        contexts = [tls(self.certificate.file)]
        if self.flapping:
            contexts.append(tls(certificate(Path(self.folder.name), "another").file))
        self.doors = Doors()
        host, port = self.doors.open(("127.0.0.1", 0), lambda line: self.serve(line, *contexts))
        self.url = f"https://{host}:{port}"
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.over.set()
        self.doors.close()
        self.folder.cleanup()
        if kind is None:
            assert not self.writes, self.writes
            assert self.loses or not self.misuse(), self.misuse()

    def body(self, uri: str) -> bytes | None:
        """Return the body at a URI; none where there is none."""
        given = super().body(uri)
        if given is not None or self.tree is None or ".." in uri:
            return given
        folder: Path | None = self.tree
        for word in uri.strip("/").split("/"):
            folder = self._below(folder, word) if folder is not None else None
        file = None if folder is None else folder / "index.json"
        return file.read_bytes() if file is not None and file.is_file() else None

    def _below(self, folder: Path, word: str) -> Path | None:
        if (folder / word).is_dir() or not self.ignore_case:
            return folder / word
        return next((f for f in folder.iterdir() if f.name.casefold() == word.casefold()), None)


class WatchedRack(SimRack):
    """A simulated rack whose BMCs check the law as `Mockup` does."""

    def __exit__(self, *failed: object) -> None:
        super().__exit__(*failed)
        if not any(failed):
            found = {up.station.name: up.bmc.misuse() for up in self.stations if up.bmc is not None}
            assert not any(found.values()), found


@contextlib.contextmanager
def silent_port() -> Iterator[str]:
    """Yield the address of a port that accepts connections and sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"https://127.0.0.1:{server.getsockname()[1]}"


def refused_port() -> str:
    """Return the address of a port without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"https://127.0.0.1:{server.getsockname()[1]}"
