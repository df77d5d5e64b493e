"""The result of a shard: one compressed file with the answers of its nodes, each with its own digest.

The file has its name only when it is complete and on disk. A file that was cut off or damaged later gives the answers
before the damage.
"""

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rackcheck.base import safe_read
from rackcheck.base.user_error import UserError
from rackcheck.model.fact import Plane, clean
from rackcheck.run import stored_forms
from rackcheck.run.event import Answered, to_json
from rackcheck.run.raw_reply import DAMAGED, LARGEST, LEVEL, raw_bytes, synced
from rackcheck.shard.document import Shard

FORMAT = 1

LONGEST = LARGEST + (1 << 20)
"""Maximum length of a line, in bytes: a reply and its event."""


RETURN = b"\r"
"""Replaces the line feeds between the records of a burn-in; the stored form of a reply has no carriage return."""


class ResultWriter:
    """Writes the answers of a shard beside their later place; `finish` gives the file its name."""

    def __init__(self, shard: Shard, path: Path) -> None:
        self._path, self._part = path, part_of(path)
        self._fresh = self._part.with_name(f"{self._part.name}.new")
        self._raw = os.fdopen(os.open(self._fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
        self._file = gzip.GzipFile(filename="", mode="wb", compresslevel=LEVEL, fileobj=self._raw, mtime=0)
        self._count = 0
        self._write({"rackcheck-result": FORMAT, **head_of(shard)})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._file.close()
        self._raw.close()

    def begin(self, there: "Iterable[Part]") -> list[Answered]:
        """Write the answers of an earlier attempt, replace its file, and return them without their replies."""
        found: list[Answered] = []
        for part in there:
            self._put(part.answer, part.reply)
            found.append(part.answer)
        self._sync()
        self._fresh.replace(self._part)
        synced(self._part.parent)
        return found

    def write(self, answer: Answered) -> Answered:
        """Write an answer, so that a later attempt finds it; return it with the digest of its reply. Raises OSError."""
        reply = raw_bytes(answer.capture) if answer.capture is not None else b""
        done = replace(answer, digest=hashlib.sha256(reply).hexdigest() if reply else "")
        self._put(done, reply)
        self._sync()
        return done

    def _put(self, answer: Answered, reply: bytes) -> None:
        own = json.dumps(to_json(answer), sort_keys=True, separators=(",", ":")).encode()
        flat = reply.replace(b"\n", RETURN)
        self._file.write(hashlib.sha256(own).hexdigest().encode() + b" " + own + b"\t" + flat + b"\n")
        self._count += 1

    def finish(self) -> None:
        """Write the end of the file, and give it its name; raises OSError."""
        self._write({"end": self._count})
        self._file.close()
        self._raw.flush()
        os.fsync(self._raw.fileno())
        self._part.replace(self._path)
        synced(self._path.parent)

    def _write(self, doc: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(doc, sort_keys=True, separators=(",", ":")).encode() + b"\n")

    def _sync(self) -> None:
        self._file.flush(zlib.Z_SYNC_FLUSH)
        self._raw.flush()
        os.fsync(self._raw.fileno())


PART = ".part"
"""The end of the name of a result that is not complete."""


def part_of(path: Path) -> Path:
    """Return the file that a result has until it is complete."""
    return path.with_name(f"{path.name}{PART}")


def head_of(shard: Shard) -> Mapping[str, Any]:
    """Return what the first line of a shard's result has in common with the shard."""
    return {
        "plan": shard.plan, "run": shard.run, "shard": shard.number, "questions": shard.questions,
        "version": shard.version,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """An answer of a result, and its reply in its stored form, empty if there is none."""

    answer: Answered
    reply: bytes


class ResultReader:
    """Reads the file of a result: `head` is its first line.

    After `parts`, `damage` is what is wrong with the file, empty for a complete one. Raises UserError if the file
    cannot be read, or is no result.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage = ""
        self._count = 0
        try:
            self._packed = safe_read.opened(path)
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from None
        self._file = gzip.GzipFile(fileobj=self._packed)
        try:
            head = json.loads(self._line())
        except (*DAMAGED, OSError, EOFError, zlib.error):
            head = None
        if not isinstance(head, dict) or head.get("rackcheck-result") != FORMAT:
            self.close()
            raise UserError(f"{path} is not the result of a shard: rackcheck run-shard makes results")
        self.head: Mapping[str, Any] = head

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._packed.close()

    def is_of(self, shard: Shard) -> bool:
        """Whether this is a result of a shard."""
        return all(self.head.get(name) == value for name, value in head_of(shard).items())

    def parts(self, most: int) -> Iterator[Part]:
        """Yield the answers, at most so many, up to the first damage."""
        while self._count <= most:
            try:
                line = self._line()
                if line.startswith(b"{"):
                    wrong = json.loads(line) != {"end": self._count}
                    self.damage = "its end does not fit its answers" if wrong else ""
                    return
                part = _part(line)
            except (OSError, EOFError, zlib.error):
                self.damage = f"it is cut off after {self._count} answers"
                return
            except DAMAGED as error:
                self.damage = f"answer {self._count + 1} is damaged: {clean(str(error), 100)}"
                return
            self._count += 1
            yield part
        self.damage = f"it has more than {most} answers"

    def _line(self) -> bytes:
        line: bytes = self._file.readline(LONGEST + 1)
        if not line.endswith(b"\n"):
            raise EOFError if len(line) <= LONGEST else ValueError(f"more than {LONGEST >> 20} MiB")
        return line[:-1]


def _part(line: bytes) -> Part:
    """Read an answer, and compare it and its reply with their digests; raises ValueError, KeyError or TypeError."""
    mark, _, rest = line.partition(b" ")
    own, _, flat = rest.partition(b"\t")
    reply = flat.replace(RETURN, b"\n")
    if hashlib.sha256(own).hexdigest().encode() != mark:
        raise ValueError("the answer does not have its digest")
    doc = json.loads(own)
    answer = stored_forms.answered(doc, None)
    if answer.plane is Plane.DERIVED:
        raise ValueError(f"a plane that no shard asks: {answer.plane.value}")
    if hashlib.sha256(reply).hexdigest() != answer.digest if answer.digest else reply:
        raise ValueError("the reply does not have its digest")
    return Part(answer, reply)


def captured(part: Part) -> Answered:
    """Return an answer with its reply; raises one of `DAMAGED` if the reply is invalid."""
    if not part.reply:
        return part.answer
    capture = stored_forms.capture(json.loads(part.reply), part.answer.plane)
    return replace(part.answer, capture=capture)


def of_earlier_attempt(shard: Shard, path: Path) -> Iterator[Part]:
    """Yield the whole answers of an attempt that broke off; none if there was no attempt at this shard."""
    if not part_of(path).exists():
        return
    with suppress(UserError), ResultReader(part_of(path)) as reader:  # else it broke off before its first line
        if reader.is_of(shard):
            yield from reader.parts(4 * len(shard.nodes))
