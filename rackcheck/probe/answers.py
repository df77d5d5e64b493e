"""Splits the output of a node's script into one answer per question; an incomplete answer is dropped."""

import bisect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rackcheck.model.capture import NodeCapture, Output, merge, named
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.question import Read, Shell
from rackcheck.model.refusal import LATE
from rackcheck.model.regex import regex
from rackcheck.model.text import SILENT, covering, matching
from rackcheck.probe.kept_answers import kept_answers
from rackcheck.probe.script import NOTHING, NodeQuestion, folder, kept, lanes


@dataclass(frozen=True)
class Split:
    """The parsed output of a node's script, without secrets; `whole` is whether the output is complete.

    `transient` is the memory in bytes, a part of that which was asked of `room`, that is free when the output is
    dropped.
    """

    capture: NodeCapture
    whole: bool
    transient: int = 0


Room = Callable[[int], Unknown | None]
"""A function that waits until so many bytes of memory are free; it returns the reason if they are never free."""


def _unlimited(_: int) -> None:
    return None


@dataclass(frozen=True, slots=True)
class _Frame:
    """One answer in a node's output: its status, and where its text and its errors begin and end, in bytes."""

    status: int
    out: tuple[int, int]
    err: tuple[int, int] = (0, 0)

    @property
    def size(self) -> int:
        return self.out[1] - self.out[0]


def split(raw: bytes, questions: Iterable[NodeQuestion], mark: str, why: Unknown, room: Room = _unlimited) -> Split:
    """Parse a node's output; a question without a complete answer is unknown for the reason `why`.

    Each answer is decoded alone, because one character outside the BMP makes each character of a text four bytes. The
    memory for the answers is asked of `room`; an answer without memory is unknown.
    """
    asked = list(questions)
    stamp = mark.encode()
    if b"\n%b!timeout\n" % stamp in raw:
        missing = Unknown(Reason.TOOL_MISSING, "one of the commands timeout, head and tail is missing on this node")
        return Split(merge(_unanswered(q, missing) for q in asked), whole=True)
    frames = dict(_frames(raw, stamp))
    ended = dict(_ends(raw, stamp))
    lost = {i: _lost(asked, lane, ended[n]) for n, lane in enumerate(lanes(asked)) if n in ended for i in lane}
    captures: list[NodeCapture] = []
    transient = 0
    for index, question in enumerate(asked):
        if index not in frames:
            captures.append(_unanswered(question, lost.get(index, why)))
            continue
        frame = frames[index]
        held, copied = _weights(raw, frame)
        full = room(held + copied)
        if full is None:
            transient += copied
        captures.append(_kept(question, raw, frame, held) if full is None else _unanswered(question, full))
    return Split(merge(captures), b"\n%b>%d\n" % (stamp, len(asked)) in raw, transient)


def _kept(question: NodeQuestion, raw: bytes, frame: _Frame, size: int) -> NodeCapture:
    out, err = raw[slice(*frame.out)], raw[slice(*frame.err)]
    return kept_answers.capture(
        question, frame.status, out, err, size, lambda: _answered(question, raw, frame).scrubbed()
    )


FILE, ENTRY = 350, 120
"""Bytes of memory for each file of an answer besides its text: for two objects and an entry, and for another entry."""


def _weights(raw: bytes, frame: _Frame) -> tuple[int, int]:
    """Return the maximum memory of a decoded answer, and that of the copy when it is split by file and scrubbed."""
    piece = raw[slice(*frame.out)]
    width = 1 if piece.isascii() else 4 if _ASTRAL.search(piece) else 2
    files = 1 + piece.count(b"==> ")
    text = width * len(piece) + 4 * (frame.err[1] - frame.err[0])
    return text + FILE * files, text + ENTRY * files


_ASTRAL = regex(rb"[\xf0-\xf4]")
"""Matches in every text that contains a character outside the BMP."""


def _text(raw: bytes, place: tuple[int, int]) -> str:
    return raw[slice(*place)].decode("utf-8", "surrogateescape")


def _lost(asked: Sequence[NodeQuestion], lane: Sequence[int], status: int) -> Unknown:
    """Return why a question has no answer after its lane has ended: the lane reached a limit, or its shell failed."""
    if status in LATE:
        return Unknown(
            Reason.TIMEOUT, f"no answer within {max(asked[i].seconds for i in lane):g} s, shared with other commands"
        )
    if status in {0, CUT}:
        return Unknown(
            Reason.TOO_LARGE, f"more than {sum(asked[i].cap for i in lane)} bytes, shared with other commands"
        )
    return Unknown(Reason.NOT_COLLECTED, f"its shell ended with status {status}")


_INDEX, _STATUS = regex(rb"<([0-9]{1,6})\n"), regex(rb":([0-9]{1,3})=")
_LANE = regex(rb"([0-9]{1,3})\.\n")
_NUMBER = regex(rb"[0-9]{1,3}")
CUT = 141
"""The status of an answer that was cut: the command was ended by SIGPIPE (141), or its own status is missing."""


def _frames(raw: bytes, mark: bytes) -> Iterator[tuple[int, _Frame]]:
    """Yield the index and the place of each answer in one pass, since one search per mark takes quadratic time."""
    pieces = _pieces(raw, mark)
    fourth = (len(raw), len(raw))
    before, message, ended = next(pieces), next(pieces, None), next(pieces, None)
    while message is not None and ended is not None:
        after = next(pieces, None)
        index = _INDEX.match(raw, *message)
        if index and raw.endswith(b"\n", *before):
            status = _STATUS.match(raw, *ended)
            follows = after or fourth
            out = index.end(), message[1]
            if status and raw.startswith(b".", *follows):
                yield int(index[1]), _Frame(int(status[1]), out, (status.end(), ended[1]))
            elif raw.startswith(b";", *ended) or (status and raw.startswith(b";", *follows)):
                yield int(index[1]), _Frame(CUT, out)
        before, message, ended = message, ended, after


def _pieces(raw: bytes, separator: bytes) -> Iterator[tuple[int, int]]:
    """Yield the begin and the end of each piece between separators, as `bytes.split` does without any copy."""
    at = 0
    while (found := raw.find(separator, at)) >= 0:
        yield at, found
        at = found + len(separator)
    yield at, len(raw)


def _ends(raw: bytes, mark: bytes) -> Iterator[tuple[int, int]]:
    """Yield each lane (one of the shells that run commands in parallel) that has ended, with its exit status."""
    sign = b"%b@" % mark
    for before, message in pairwise(_pieces(raw, b"\n%b~" % mark)):
        lane = _LANE.match(raw, *message)
        last = raw[max(before[0], before[1] - len(sign) - 3) : before[1]].rpartition(sign)
        if lane:
            yield int(lane[1]), int(last[2]) if last[1] and _NUMBER.fullmatch(last[2]) else CUT


def _unanswered(question: NodeQuestion, why: Unknown) -> NodeCapture:
    if isinstance(question, Shell):
        return NodeCapture(commands={named(question.command): why})
    return NodeCapture(globs=dict.fromkeys(question.globs, why))


def _answered(question: NodeQuestion, raw: bytes, frame: _Frame) -> NodeCapture:
    # The shell drops NUL bytes, so a cut answer may be shorter than the cap; an answer without its end mark was cut.
    size = frame.size
    full = size >= question.cap or frame.status == CUT
    large = Unknown(Reason.TOO_LARGE, f"more than {question.cap} bytes")
    if isinstance(question, Shell) and full:
        return NodeCapture(commands={named(question.command): large})
    output = Output(frame.status, _text(raw, frame.out), _text(raw, frame.err).rstrip("\n"))
    if isinstance(question, Shell):
        if question.newest and size == question.cap - 1:
            output = replace(output, out=output.out.partition("\n")[2])  # the first line was cut
        return NodeCapture(commands={named(question.command): output})
    if output.out.rstrip("\n") == NOTHING:
        return NodeCapture(globs=dict.fromkeys(question.globs))
    contents, doubled = _once(_contents(output.out, question))
    complaints = list(_complained(output.err, question))
    rows = sorted({*contents, *doubled, *(path for path, _ in complaints)})
    refused = dict(_refused(complaints)) | doubled
    trouble: Unknown | None = None
    if full:
        trouble = large
    elif output.status in LATE:
        trouble = Unknown(Reason.TIMEOUT, f"no answer within {question.seconds:g} s")
    elif output.status not in {0, 1}:
        trouble = Unknown(Reason.NOT_COLLECTED, f"head ended with status {output.status}")
    elif (odd := _not_mounted(output.err)) is not None:
        trouble = odd
    if trouble is not None and contents:
        contents.popitem()  # the last file may be cut
    if trouble is None and len(output.err.encode("utf-8", "surrogateescape")) >= kept(question) - 1:
        trouble = Unknown(Reason.TOO_LARGE, "not all error messages were kept")
    for path, _ in complaints:
        contents.pop(path, None)
    if trouble is None:
        refused |= {glob: SILENT for glob in question.globs if not _has_matches(glob, rows)}
    return NodeCapture(globs=dict.fromkeys(question.globs, trouble), files=contents, refused=refused)


_UNMOUNTED = regex(r"sh: (/[a-z/]+): is not mounted")


def _not_mounted(err: str) -> Unknown | None:
    """Return the reason if files were not collected because a kernel filesystem is not mounted; else None."""
    match = _UNMOUNTED.fullmatch(err)
    return Unknown(Reason.NOT_COLLECTED, f"{match[1]} is not mounted") if match else None


def _once(rows: Iterable[tuple[str, str]]) -> tuple[dict[str, str], dict[str, Unknown]]:
    """Return the contents by path, and as unknown the files that were returned twice with different contents.

    A file seems to be returned twice if another file contains a line that looks like the header of this file.
    """
    contents: dict[str, str] = {}
    doubled: dict[str, Unknown] = {}
    for path, content in rows:
        if contents.setdefault(path, content) != content:
            doubled[path] = Unknown(Reason.UNPARSABLE, "the file was returned twice, with different contents")
    return {path: content for path, content in contents.items() if path not in doubled}, doubled


def _contents(out: str, question: Read) -> Iterator[tuple[str, str]]:
    """Split the output of `head -v` by file; the header of an unrequested file counts as text of the file before it."""
    name, start = "", 0
    asked = covering(question.globs)
    for match in re.finditer(r"(?:\A|\n)==> ([^\n]+) <==\n", out):
        if asked(match[1]):
            if name:
                yield name, out[start : match.start()]
            name, start = match[1], match.end()
    if name:
        yield name, out[start:]


_WORDS: Mapping[str, Reason] = {
    "Permission denied": Reason.DENIED,
    "Operation not permitted": Reason.DENIED,
}

_NO_FILE = frozenset({"No such file or directory", "Not a directory", "Is a directory"})


def _complained(err: str, question: Read) -> Iterator[tuple[str, str]]:
    """Yield the errors of `head` by file; errors about files that were not requested are ignored."""
    pattern = re.compile(
        r"^head: (?:cannot open |error reading )?['\"]?(/[^\n]*?)['\"]?(?: for reading)?: ([^\n:]+)$", re.MULTILINE
    )
    hidden = frozenset(re.findall(r"^hidden (/[^\n]+)$", err, re.MULTILINE))
    yield from ((glob, "Permission denied") for glob in question.globs if folder(glob) in hidden)
    asked, literal = covering(question.globs), frozenset(question.globs)
    for path, complaint in pattern.findall(err):
        if path in literal or asked(path):
            yield path, complaint


def _refused(complaints: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Unknown]]:
    """Yield the files that could not be read, and why; missing files are not included."""
    for path, complaint in complaints:
        if complaint not in _NO_FILE:
            yield path, Unknown(_WORDS.get(complaint, Reason.NOT_COLLECTED), complaint)


def _has_matches(glob: str, rows: Sequence[str]) -> bool:
    """Return whether `head` returned a file or an error for a glob.

    A glob without matches stays literal, and `head` reports an error for it.
    """
    at = bisect.bisect_left(rows, glob)
    return rows[at : at + 1] == [glob] or next(matching(rows, glob), None) is not None
