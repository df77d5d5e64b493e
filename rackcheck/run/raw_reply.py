"""The raw replies of a run on disk: a file for each, compressed, in canonical JSON, named by the digest of its content.

A reply is read back when it is used, and compared with its digest.
"""

import gzip
import hashlib
import io
import json
import os
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, BinaryIO

from rackcheck.base import safe_read
from rackcheck.base.user_error import UserError
from rackcheck.model.capture import CAPTURES, BurnCapture, Capture
from rackcheck.model.fact import Plane, clean
from rackcheck.run import stored_forms

LEVEL = 1
"""Level of compression: level 6 takes more than twice the time, and saves an eighth of the size."""

LARGEST = 256 << 20
"""Maximum size of a reply in its stored form, in bytes.

A reply has up to 32 MiB, and its JSON form may be six times as large.
"""

DAMAGED = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
"""The exceptions that readers raise for invalid data."""


@dataclass(frozen=True)
class RawFolder:
    """The folder with the raw replies of a run."""

    folder: Path

    def has(self, digest: str) -> bool:
        """Return whether the reply with a digest is there."""
        return bool(digest) and self._file(digest).exists()

    def keep(self, capture: Capture) -> str:
        """Write a reply, unless it is there; return the digest of its stored form. Raises OSError if this fails."""
        rest = pieces(capture)
        data, more = next(rest), next(rest, None)
        if more is not None:
            return self._keep_large(chain((data, more), rest))
        digest = hashlib.sha256(data).hexdigest()
        path = self._file(digest)
        if not path.exists():
            with self._created(path) as file:
                file.write(gzip.compress(data, compresslevel=LEVEL, mtime=0))
        return digest

    def _keep_large(self, data: Iterable[bytes]) -> str:
        """Write a reply piece by piece; its digest, the name of the file, is known after the last piece."""
        with self._created(self.folder / "large.json.gz") as file:
            packed = _Packed(file)
            for piece in data:
                packed.write(piece)
            packed.finish()
        digest = packed.digest.hexdigest()
        (self.folder / "large.json.gz").replace(self._file(digest))
        synced(self.folder)
        return digest

    def _file(self, digest: str) -> Path:
        return self.folder / f"{digest}.json.gz"

    @contextmanager
    def _created(self, path: Path) -> Iterator[IO[bytes]]:
        """Create a file that has its name only when it is complete and on disk; after an error, nothing of it is left.

        A reply is on disk before a verdict that depends on it.
        """
        fresh = path.with_suffix(".new")
        try:
            with fresh.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
            synced(path.parent)
        except OSError:
            with suppress(OSError):
                fresh.unlink()
            raise


def synced(*paths: Path) -> None:
    """Write files, or the names in folders, to disk; raises OSError if this fails."""
    for path in paths:
        place = os.open(path, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)


def raw_bytes(capture: Capture) -> bytes:
    """Return the stored form of a reply; equal replies give equal bytes.

    The stored form of a burn-in has one record per line.
    """
    if isinstance(capture, BurnCapture):
        return b'{"records":[\n' + b",\n".join(map(_canonical, capture.records)) + b"\n]}\n"
    return _canonical(capture.to_json())


def _canonical(doc: Mapping[str, Any]) -> bytes:
    return _json(doc).encode()


def _json(doc: object) -> str:
    return _ENCODER.encode(doc)


_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":"))

PIECE = 4 << 20
"""Minimum number of characters that are encoded and compressed at a time, if a reply has so many; most have fewer."""


def pieces(capture: Capture) -> Iterator[bytes]:
    """Yield the stored form of a reply in pieces: one piece for most replies, several for a large one.

    The JSON of a large reply may take six times the memory of the reply.
    """
    if isinstance(capture, BurnCapture):
        yield raw_bytes(capture)
        return
    parts: list[str] = []
    size = 0
    for part in _parts(capture.to_json()):
        parts.append(part)
        size += len(part)
        if size >= PIECE:
            yield "".join(parts).encode()
            parts, size = [], 0
    yield "".join(parts).encode()


def _parts(doc: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the canonical JSON of an object of objects in parts, each with as many entries as have about `PIECE`."""
    yield "{"
    for number, field in enumerate(sorted(doc)):
        yield f"{',' if number else ''}{_json(field)}:{{"
        comma = ""
        for group in _groups(doc[field]):
            yield f"{comma}{_json(group)[1:-1]}"
            comma = ","
        yield "}"
    yield "}"


def _groups(entries: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the entries in the order of their keys, in groups of about `PIECE` characters; a resource is a group."""
    if set(map(type, entries.values())) <= {str} and sum(map(len, entries.values())) < PIECE:
        yield from [dict(entries)] if entries else ()  # the files of most nodes
        return
    group: dict[str, Any] = {}
    size = 0
    for key in sorted(entries):
        entry = group[key] = entries[key]
        match entry:
            case str():
                size += len(entry)
            case {"out": str(out), "err": str(err)}:
                size += len(out) + len(err)
            case {"body": _}:
                size = PIECE
        if size >= PIECE:
            yield group
            group, size = {}, 0
    if group:
        yield group


class _Packed:
    """A file in which a reply is compressed piece by piece, to the same bytes as by `gzip.compress`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._crc, self._size = file, 0, 0
        self._deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self.digest = hashlib.sha256()
        file.write(gzip.compress(b"", LEVEL, mtime=0)[:HEADER])

    def write(self, data: bytes) -> None:
        self.digest.update(data)
        self._crc, self._size = zlib.crc32(data, self._crc), self._size + len(data)
        self._file.write(self._deflate.compress(data))

    def finish(self) -> None:
        self._file.write(self._deflate.flush() + struct.pack("<LL", self._crc, self._size & 0xFFFFFFFF))


HEADER = 10
"""Number of bytes of a gzip header."""


def stored_reply(folder: Path, digest: str, plane: Plane) -> tuple[Capture, int]:
    """Return a raw reply of a run's folder, and the size of its file in bytes.

    The reply is compared with its digest and parsed when it is used. Raises ValueError if the digest is invalid, and
    UserError if there is no such file.
    """
    check_digest(digest)
    path = folder / "raw" / f"{digest}.json.gz"
    try:
        size = path.stat().st_size
    except OSError as error:
        raise UserError(f"cannot read the raw answer {path}: {error}") from None
    return _later(path, digest, plane), size


def _later(path: Path, digest: str, plane: Plane) -> Capture:
    return CAPTURES[plane].later(partial(reply, path, digest, plane), partial(_sealed, path, digest), str(path))


def _sealed(path: Path, digest: str, seal: str) -> str:
    """Make sure that the file of a raw reply has the digest in its name; return the seal of the file.

    A file that has the given seal had this digest before, and is not decompressed again. Raises UserError as `_whole`.
    """
    return seal if seal and seal == _seal(path) else _whole(path, digest)[1]


def _whole(path: Path, digest: str) -> tuple[bytes, str]:
    """Return the content and the seal of the file of a raw reply.

    Raises UserError if the content does not have the digest in the name of the file.
    """
    data, seal = _inflated(path)
    if hashlib.sha256(data).hexdigest() != digest:
        raise UserError(f"{path} does not match the digest in its name: it was changed or damaged after the run")
    return data, seal


def reply(path: Path, digest: str, plane: Plane) -> Capture:
    """Parse a raw reply, from the file, since the replies of a rack are more than the memory should hold.

    Raises UserError if the file does not match the digest, or if its content is damaged.
    """
    try:
        data, seal = _whole(path, digest)
        return stored_forms.capture(json.loads(data), plane).sealed(seal)
    except DAMAGED as error:
        raise UserError(f"{path} is damaged: {error!r}") from None


def check_digest(text: str) -> None:
    """Raise ValueError if a text is not a digest of a reply, which is part of a file's name."""
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise ValueError(f"not a digest: {clean(text, 80)}")


def _inflated(path: Path) -> tuple[bytes, str]:
    """Decompress a raw reply in pieces, up to a maximum size, since a small file may expand to more than the memory.

    Return the content, and the seal of the file that was decompressed.
    """
    pieces, size = [], 0
    try:
        with safe_read.opened(path) as packed, gzip.open(sealing := _Sealing(packed)) as file:
            while piece := file.read(1 << 20):
                size += len(piece)
                if size > LARGEST:
                    raise UserError(f"{path} unpacks to more than {LARGEST >> 20} MiB, the maximum size of an answer")
                pieces.append(piece)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"cannot read the raw answer {path}: {error}") from None
    return b"".join(pieces), sealing.seal.hexdigest()


def _seal(path: Path) -> str:
    """Return the seal of a file: a digest of its compressed bytes."""
    try:
        with safe_read.opened(path) as packed:
            sealing, size = _Sealing(packed), 0
            while size <= LARGEST and (piece := sealing.read(PIECE)):
                size += len(piece)
    except OSError as error:
        raise UserError(f"cannot read the raw answer {path}: {error}") from None
    return sealing.seal.hexdigest()


class _Sealing(io.RawIOBase):
    """A file that is read from the beginning to the end, with the digest of the bytes that were read so far."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self.seal = hashlib.blake2b(digest_size=32)

    def read(self, size: int = -1) -> bytes:
        """Read at most so many bytes; an empty result is the end of the file."""
        data = self._file.read(size)
        self.seal.update(data)
        return data
