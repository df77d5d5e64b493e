"""Splits the output of a node's script into one answer per question; an incomplete answer is dropped."""

import bisect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rackcheck.model.capture import NodeCapture, Output, merge, named
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.question import Read, Shell
from rackcheck.model.refusal import LATE
from rackcheck.model.regex import regex
from rackcheck.model.text import SILENT, covering, matching
from rackcheck.probe.script import NOTHING, NodeQuestion, folder, kept, lanes


@dataclass(frozen=True)
class Split:
    """The parsed output of a node's script; `whole` is whether the output is complete."""

    capture: NodeCapture
    whole: bool


def split(raw: bytes, questions: Iterable[NodeQuestion], mark: str, why: Unknown) -> Split:
    """Parse a node's output; a question without a complete answer is unknown for the reason `why`."""
    asked = list(questions)
    text = raw.decode("utf-8", "surrogateescape")
    if f"\n{mark}!timeout\n" in text:
        missing = Unknown(Reason.TOOL_MISSING, "one of the commands timeout, head and tail is missing on this node")
        return Split(merge(_unanswered(q, missing) for q in asked), whole=True)
    answers = dict(_frames(text, mark))
    ended = dict(_ends(text, mark))
    lost = {i: _lost(asked, lane, ended[n]) for n, lane in enumerate(lanes(asked)) if n in ended for i in lane}
    captures = [
        _answered(question, answers[index]) if index in answers else _unanswered(question, lost.get(index, why))
        for index, question in enumerate(asked)
    ]
    return Split(merge(captures), whole=f"\n{mark}>{len(asked)}\n" in text)


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


_INDEX, _STATUS = regex(r"<([0-9]{1,6})\n"), regex(r":([0-9]{1,3})=")
CUT = 141
"""The status of an answer that was cut: the command was ended by SIGPIPE (141), or its own status is missing."""


def _frames(text: str, mark: str) -> Iterator[tuple[int, Output]]:
    """Yield the index and the answer of each question in one pass, since one search per mark takes quadratic time."""
    pieces = text.split(mark)
    for before, message, ended, after in zip(pieces, pieces[1:], pieces[2:], [*pieces[3:], ""], strict=False):
        index, status = _INDEX.match(message), _STATUS.match(ended)
        if index and before.endswith("\n"):
            out = message[index.end() :]
            if status and after.startswith("."):
                yield int(index[1]), Output(int(status[1]), out, ended[status.end() :].rstrip("\n"))
            elif ended.startswith(";") or (status and after.startswith(";")):
                yield int(index[1]), Output(CUT, out, "")


def _ends(text: str, mark: str) -> Iterator[tuple[int, int]]:
    """Yield each lane (one of the shells that run commands in parallel) that has ended, with its exit status."""
    pieces = text.split(f"\n{mark}~")
    for before, message in pairwise(pieces):
        lane = re.match(r"([0-9]{1,3})\.\n", message)
        status = re.search(rf"{mark}@([0-9]{{1,3}})\Z", before)
        if lane:
            yield int(lane[1]), int(status[1]) if status else CUT


def _unanswered(question: NodeQuestion, why: Unknown) -> NodeCapture:
    if isinstance(question, Shell):
        return NodeCapture(commands={named(question.command): why})
    return NodeCapture(globs=dict.fromkeys(question.globs, why))


def _answered(question: NodeQuestion, output: Output) -> NodeCapture:
    # The shell drops NUL bytes, so a cut answer may be shorter than the cap; an answer without its end mark was cut.
    size = len(output.out.encode("utf-8", "surrogateescape"))
    full = size >= question.cap or output.status == CUT
    large = Unknown(Reason.TOO_LARGE, f"more than {question.cap} bytes")
    if isinstance(question, Shell):
        if question.newest and size == question.cap - 1:
            output = replace(output, out=output.out.partition("\n")[2])  # the first line was cut
        return NodeCapture(commands={named(question.command): large if full else output})
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
        if asked.fullmatch(match[1]):
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
        if path in literal or asked.fullmatch(path):
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
