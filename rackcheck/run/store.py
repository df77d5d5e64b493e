"""A run on disk: `run.json`, `events.jsonl` (append-only), `raw/` (replies by content hash), `profile/`, `waivers/`.

`events.jsonl` is authoritative. The files of the profile and of waivers are stored with the run, so that the run can be
judged in the same way later, even if the installed profiles change.
"""

import gzip
import hashlib
import json
import os
import re
import shutil
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeVar

from rackcheck.base import safe_read, state
from rackcheck.base.user_error import UserError
from rackcheck.model.capture import CAPTURES, BurnCapture, Capture
from rackcheck.model.fact import Plane, clean
from rackcheck.model.regex import regex
from rackcheck.profile.layers import did_you_mean
from rackcheck.run import stored_forms
from rackcheck.run.event import Answered, Event, FactsRead, Judged, RunDone, RunStarted, to_json
from rackcheck.run.kept_replies import kept_replies
from rackcheck.run.stored_facts import FactsWriter

T = TypeVar("T")

FORMAT = 1

LEVEL = 3
"""Level of compression of raw replies: level 6 takes twice the time, and saves a fifth of the size."""

COMPRESSED = 16
"""About how many times larger a raw reply is than its file."""

NONE: Mapping[str, str] = {}

LARGEST = 256 << 20
"""Maximum size of a raw reply, an event or `run.json`, in bytes.

A reply has up to 32 MiB, and its JSON form may be six times as large.
"""


def runs_folder() -> Path:
    """Return the folder of runs on this system."""
    return state.folder("runs")


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


class RunWriter:
    """Writes the events of a run in progress; `write` flushes each event to the file.

    A folder that this class creates is the user's alone. If a run cannot be created whole, nothing of it is left.
    """

    def __init__(
        self, folder: Path, head: Mapping[str, Any], profile: Mapping[str, str], waivers: Mapping[str, str] = NONE
    ) -> None:
        _begin(folder)
        try:
            (folder / "profile").mkdir()
            for name, content in profile.items():
                (folder / "profile" / name).write_text(content, encoding="utf-8")
            for name, content in waivers.items():
                (folder / "waivers").mkdir(exist_ok=True)
                (folder / "waivers" / name).write_text(content, encoding="utf-8")
            text = json.dumps({"rackcheck": FORMAT, **head}, indent=2, ensure_ascii=False)
            (folder / "run.json").write_text(text + "\n", encoding="utf-8")
            self._events = (folder / "events.jsonl").open("x", encoding="utf-8")
            _sync(folder / "run.json", folder / "profile", folder)
        except BaseException as error:
            _remove_begun(folder)
            if isinstance(error, OSError):
                raise UserError(f"cannot write a run to {folder}: {error.strerror}") from None
            raise
        self.folder = folder
        self._facts = FactsWriter()
        self._broken = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the run; raises OSError if its events may not be on disk, unless `write` has raised it before."""
        if self._events.closed:
            return
        try:
            # Synced to disk before the end of the run is reported, since a verdict may be signed a minute later.
            self._events.flush()
            os.fsync(self._events.fileno())
        except OSError:
            if not self._broken:
                raise
        finally:
            with suppress(OSError):  # `flush` has raised it
                self._events.close()

    def write(self, event: Event) -> Event:
        """Store an event and return it; an event `answered` is returned with the digest of its raw reply.

        Raises OSError if the event cannot be stored.
        """
        try:
            return self._write(event)
        except OSError:
            self._broken = True
            raise

    def _write(self, event: Event) -> Event:
        if isinstance(event, Answered) and event.capture is not None:
            event = replace(event, digest=self._keep(event.capture))
        doc = self._facts.doc(event.node, event.tree) if isinstance(event, FactsRead) else to_json(event)
        if doc is not None:
            self._events.write(json.dumps(doc, ensure_ascii=True, separators=(",", ":")) + "\n")
            self._events.flush()
        return event

    def _keep(self, capture: Capture) -> str:
        """Write a reply to the folder `raw`, unless it is there; return the digest of its stored form."""
        rest = pieces(capture)
        data, more = next(rest), next(rest, None)
        if more is not None:
            return self._keep_large(chain((data, more), rest))
        digest = hashlib.sha256(data).hexdigest()
        path = self._raw(digest)
        if not path.exists():
            with self._created(path) as file:
                file.write(gzip.compress(data, compresslevel=LEVEL, mtime=0))
        return digest

    def _keep_large(self, data: Iterable[bytes]) -> str:
        """Write a reply piece by piece; its digest, the name of the file, is known after the last piece."""
        with self._created(self.folder / "raw" / "large.json.gz") as file:
            packed = _Packed(file)
            for piece in data:
                packed.write(piece)
            packed.finish()
        digest = packed.digest.hexdigest()
        (self.folder / "raw" / "large.json.gz").replace(self._raw(digest))
        _sync(self.folder / "raw")
        return digest

    def _raw(self, digest: str) -> Path:
        return self.folder / "raw" / f"{digest}.json.gz"

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
            _sync(path.parent)
        except OSError:
            with suppress(OSError):
                fresh.unlink()
            raise


def _sync(*paths: Path) -> None:
    """Write files, or the names in folders, to disk; raises OSError if this fails."""
    for path in paths:
        place = os.open(path, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)


def _begin(folder: Path) -> None:
    """Create the folder of a run, or use an empty one; raises UserError if it contains anything."""
    fresh = not folder.exists()
    try:
        occupied = not fresh and any(folder.iterdir())
        if not occupied:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / "raw").mkdir()
    except FileExistsError:  # another process has begun a run here
        occupied = True
    except OSError as error:
        if fresh:
            with suppress(OSError):
                folder.rmdir()
        raise UserError(f"cannot write a run to {folder}: {error.strerror}") from None
    if occupied:
        raise UserError(f"{folder} already exists; a run is never overwritten")


def _remove_begun(folder: Path) -> None:
    """Remove the beginning of a run that could not be created, and its folder if nothing else is in it."""
    for name in ("raw", "profile", "waivers"):
        shutil.rmtree(folder / name, ignore_errors=True)
    with suppress(OSError):
        for name in ("run.json", "events.jsonl"):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


@dataclass(frozen=True)
class Stored:
    """A stored run."""

    folder: Path
    head: Mapping[str, Any]

    def documents(self, event: str = "") -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield every stored event with its line number; an incomplete last line without a line feed is ignored.

        With `event`, lines that begin as another event are not parsed: the facts take nearly all of a run's bytes.
        """
        path = self.folder / "events.jsonl"
        for number, line in enumerate(_lines(path), start=1):
            if event and _begins_other(line, event):
                continue
            try:
                doc = json.loads(line)
            except (ValueError, RecursionError):
                if not line.endswith(b"\n"):
                    return
                raise UserError(f"{path}: line {number} is damaged") from None
            if not isinstance(doc, dict) or not isinstance(doc.get("event"), str):
                raise UserError(f"{path}: line {number} is not an event")
            yield number, doc

    def answers(self) -> Iterator[Answered]:
        """Yield every event `answered`, with its raw reply."""
        return self._each("answered", self._answer)

    def answered(self) -> Iterator[Answered]:
        """Yield every event `answered`, without its raw reply.

        The method `capture` reads a raw reply by its digest and plane.
        """
        return self._each("answered", self._bare)

    def _bare(self, doc: Mapping[str, Any]) -> Answered:
        if "raw" in doc:
            _held_digest(stored_forms.word(doc, "raw"))
        return stored_forms.answered(doc, None)

    def _answer(self, doc: Mapping[str, Any]) -> Answered:
        plane = Plane(doc["plane"])
        return stored_forms.answered(doc, self._held(stored_forms.word(doc, "raw"), plane) if "raw" in doc else None)

    def judged(self) -> tuple[Judged, ...]:
        """Return the stored verdicts of all nodes."""
        return tuple(self._each("judged", stored_forms.judged))

    def started(self) -> RunStarted:
        """Return the event `run started`; raises UserError if it is missing."""
        found = next(self._each("run started", stored_forms.started), None)
        if found is None:
            raise UserError(f"{self.folder}/events.jsonl has no event `run started`")
        return found

    def done(self) -> RunDone | None:
        """Return the event `run done`; None if the run was cut off."""
        return next(self._each("run done", stored_forms.done), None)

    def _each(self, event: str, build: Callable[[Mapping[str, Any]], T]) -> Iterator[T]:
        for number, doc in self.documents(event):
            if doc["event"] == event:
                try:
                    built = build(doc)
                except _DAMAGED as error:
                    message = f"line {number}, an event `{event}`, is damaged: {error!r}"
                    raise UserError(f"{self.folder}/events.jsonl: {message}") from None
                yield built

    def capture(self, digest: str, plane: Plane) -> Capture:
        """Read a raw reply; raises ValueError if the digest is invalid, and UserError if the file was changed."""
        found = self._held(digest, plane)
        found.load()
        return found

    def _held(self, digest: str, plane: Plane) -> Capture:
        """Return a raw reply that is compared with its digest and parsed when it is used.

        A node whose facts are kept is only compared (`check`), and before its facts are used.
        """
        path, size = _raw_file(self.folder, digest)
        later = _later(path, digest, plane)
        found = kept_replies.capture(digest, plane, size * COMPRESSED, later)
        if found is not later:  # it may be parsed already, before the file was changed
            found.check()
        return found


def stored_reply(folder: Path, digest: str, plane: Plane) -> Capture:
    """Return a raw reply of a run's folder, which is compared with its digest and parsed when it is used.

    Raises ValueError if the digest is invalid, and UserError if there is no such file.
    """
    return _later(_raw_file(folder, digest)[0], digest, plane)


def _later(path: Path, digest: str, plane: Plane) -> Capture:
    return CAPTURES[plane].later(partial(reply, path, digest, plane), partial(_whole, path, digest), str(path))


def _raw_file(folder: Path, digest: str) -> tuple[Path, int]:
    """Return the path and the size of a raw reply; raises as `stored_reply`."""
    _held_digest(digest)
    path = folder / "raw" / f"{digest}.json.gz"
    try:
        return path, path.stat().st_size
    except OSError as error:
        raise UserError(f"cannot read the raw answer {path}: {error}") from None


_BEGIN = regex(rb'\{"event":"([a-z ]{1,40})",')


def _begins_other(line: bytes, event: str) -> bool:
    """Return whether a complete line begins with the name of another event, as `RunWriter` writes it."""
    match = _BEGIN.match(line)
    return match is not None and match[1] != event.encode() and line.endswith(b"}\n")


def _whole(path: Path, digest: str) -> bytes:
    """Return the content of the file of a raw reply; raises UserError if it does not have the digest in its name."""
    data = _inflated(path)
    if hashlib.sha256(data).hexdigest() != digest:
        raise UserError(f"{path} does not match the digest in its name: it was changed or damaged after the run")
    return data


def reply(path: Path, digest: str, plane: Plane) -> Capture:
    """Parse a raw reply, from the file, since the replies of a rack are more than the memory should hold.

    Raises UserError if the file does not match the digest, or if its content is damaged.
    """
    try:
        return stored_forms.capture(json.loads(_whole(path, digest)), plane)
    except _DAMAGED as error:
        raise UserError(f"{path} is damaged: {error!r}") from None


_DAMAGED = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
"""The exceptions that readers raise for invalid data."""


def _held_digest(text: str) -> None:
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise ValueError(f"not a digest: {clean(text, 80)}")


def _lines(path: Path) -> Iterator[bytes]:
    """Yield a file's lines one by one, since a run of many nodes may not fit into memory."""
    try:
        with safe_read.opened(path) as file:
            while line := file.readline(LARGEST + 1):
                if len(line) > LARGEST:
                    raise UserError(f"{path}: a line has more than {LARGEST >> 20} MiB")
                yield line
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None


def _inflated(path: Path) -> bytes:
    """Decompress a raw reply in pieces, up to a maximum size, since a small file may expand to more than the memory."""
    pieces, size = [], 0
    try:
        with safe_read.opened(path) as packed, gzip.open(packed) as file:
            while piece := file.read(1 << 20):
                size += len(piece)
                if size > LARGEST:
                    raise UserError(f"{path} unpacks to more than {LARGEST >> 20} MiB, the maximum size of an answer")
                pieces.append(piece)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"cannot read the raw answer {path}: {error}") from None
    return b"".join(pieces)


def find(run: str) -> Stored:
    """Find a run by its id or folder; `last` is the newest run that does not repeat nodes of an earlier run.

    Raises UserError with the most similar id if there is no such run.
    """
    folder = Path(run)
    if not (folder / "run.json").is_file():
        known = ids()
        if run == "last" and known:
            run = next((name for name in reversed(known) if not _again(name)), known[-1])
        if run not in known:
            _no_run(folder)
            hint = did_you_mean(run, known) or (
                "; `rackcheck runs list` shows them" if known else "; there are none yet"
            )
            raise UserError(f"no run {run}{hint}")
        folder = runs_folder() / run
    try:
        head = json.loads(safe_read.text(folder / "run.json", LARGEST))
    except (ValueError, RecursionError) as error:
        raise UserError(f"cannot read {folder / 'run.json'}: {error}") from None
    if not isinstance(head, dict) or head.get("rackcheck") != FORMAT:
        raise UserError(f"{folder / 'run.json'} is not a run of format {FORMAT}")
    return Stored(folder, head)


AGAIN_OF = "again-of"
"""The key in `run.json` with the id of the earlier run, if this run read nodes of the earlier run again."""


def _again(name: str) -> bool:
    """Whether a run read nodes of an earlier run again; False if `run.json` cannot be read."""
    try:
        head = json.loads(safe_read.text(runs_folder() / name / "run.json", LARGEST))
    except (ValueError, RecursionError, UserError):
        return False
    return isinstance(head, dict) and isinstance(head.get(AGAIN_OF), str)


def _no_run(folder: Path) -> None:
    """Raise UserError if the folder exists but contains no run; the message explains what the folder contains."""
    try:
        capture, there = (folder / "capture.json").is_file(), folder.is_dir()
    except (OSError, ValueError):
        return
    if capture:
        raise UserError(f"{folder} is a capture, not a run: use it with audit --from, facts --from or sim up --machine")
    if there:
        raise UserError(f"{folder} is neither a run nor a capture: it contains neither run.json nor capture.json")


def ids() -> list[str]:
    """Return every run's id, the oldest first."""
    folder = runs_folder()
    return sorted(p.parent.name for p in folder.glob("*/run.json")) if folder.is_dir() else []
