"""Replies that wait on disk until their node is judged, because there is no room for them in memory.

All replies of a run share one file without a name: it vanishes with the process, also if the process is killed.
"""

import gzip
import io
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rackcheck.model.capture import CAPTURES, PLANES, Capture
from rackcheck.model.fact import Plane

LEVEL = 1
"""The level of compression: replies are read back soon."""

PIECE = 1 << 20
"""Number of bytes that are read at a time."""


@dataclass(frozen=True, slots=True)
class Parked:
    """The place of a reply in the file: its offset and its compressed size, in bytes, and the digest of these bytes."""

    at: int
    size: int
    digest: bytes


class ParkingFile:
    """The file of a run's parked replies; safe for use by several threads.

    The file is created with the first reply. It becomes empty whenever all replies were removed.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._file: int | None = None
        self._closed = False
        self._end = self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._closed = True
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def park(self, capture: Capture) -> Parked:
        """Write a reply to the file; raises OSError if this fails, for example on a full disk."""
        with self._lock:
            region = _Region(self._opened(), self._end)
            try:
                with gzip.GzipFile(fileobj=region, mode="wb", compresslevel=LEVEL, mtime=0) as file:
                    for part in _parts(capture):
                        file.write(json.dumps(part, separators=(",", ":")).encode() + b"\n")
            except OSError:
                os.ftruncate(region.file, self._end)
                raise
            parked = Parked(self._end, region.at - self._end, region.digest.digest())
            self._end = region.at
            self._count += 1
        return parked

    def read(self, parked: Parked) -> Capture:
        """Read a reply back; raises OSError if the bytes are not those that were written."""
        with self._lock:
            file = self._opened()
        whole = _Region(file, parked.at, parked.at + parked.size)
        while whole.read(PIECE):
            pass
        if whole.digest.digest() != parked.digest:
            raise OSError(None, "the temporary file was changed or damaged")
        region = _Region(file, parked.at, parked.at + parked.size)
        with gzip.GzipFile(fileobj=io.BufferedReader(region, PIECE), mode="rb") as packed:
            return _capture(_loaded(packed))

    def remove(self, parked: Parked) -> None:
        """Free the place of a reply; the file becomes shorter if it was the last one."""
        with self._lock:
            self._count -= 1
            if parked.at + parked.size == self._end:
                self._end = parked.at
            if self._count == 0:
                self._end = 0
            if self._file is not None:
                os.ftruncate(self._file, self._end)

    def _opened(self) -> int:
        if self._closed:
            raise OSError(None, "the run has ended")
        if self._file is None:
            with tempfile.TemporaryFile(dir=self._folder or _place()) as file:
                self._file = os.dup(file.fileno())
        return self._file


def _place() -> str | None:
    """Return /var/tmp unless TMPDIR names another folder: on many systems /tmp is in memory."""
    return None if os.environ.get("TMPDIR") or not os.access("/var/tmp", os.W_OK) else "/var/tmp"  # noqa: S108


def _parts(capture: Capture) -> Iterator[tuple[str, str, Any]]:
    """Yield the plane of a reply, and then its entries one by one, each with the name of its field and its key."""
    yield "", "", PLANES[type(capture)].value
    for name, entries in capture.to_json().items():
        if isinstance(entries, list):
            yield name, "", entries
        else:
            for key, value in entries.items():
                yield name, key, value


def _capture(parts: Iterator[tuple[str, str, Any]]) -> Capture:
    _, _, plane = next(parts)
    kind = CAPTURES[Plane(plane)]
    doc: dict[str, Any] = {name: {} for name in kind().to_json()}
    for name, key, value in parts:
        if isinstance(value, list):
            doc[name] = value
        else:
            doc[name][key] = value
    return kind.from_json(doc)


def _loaded(file: gzip.GzipFile) -> Iterator[tuple[str, str, Any]]:
    """Yield the entries of a reply, one for each line."""
    for line in file:
        name, key, value = json.loads(line)
        yield name, key, value


class _Region(io.RawIOBase):
    """A part of a file from `at`, with the digest of the bytes that were written or read so far.

    Other threads use other parts of the file, so that each part has its own position.
    """

    def __init__(self, file: int, at: int, end: int = 0) -> None:
        super().__init__()
        self.file, self.at, self._end = file, at, end
        self.digest = sha256()

    def readable(self) -> bool:
        """Return true, as `io.BufferedReader` requires."""
        return True

    def readinto(self, into: Any) -> int:
        """Read the next bytes; return their number, 0 at the end of the part."""
        data = os.pread(self.file, min(len(into), self._end - self.at), self.at)
        into[: len(data)] = data
        self.at += len(data)
        self.digest.update(data)
        return len(data)

    def write(self, data: Any) -> int:
        """Write all of the bytes; raises OSError if this fails."""
        view = memoryview(data).cast("B")
        self.digest.update(view)
        written = 0
        while written < len(view):
            written += os.pwrite(self.file, view[written:], self.at + written)
        self.at += written
        return written
