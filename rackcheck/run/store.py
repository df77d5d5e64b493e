"""A run on disk: `run.json`, `events.jsonl` (append-only), `raw/` (replies by content hash), `profile/`, `waivers/`.

`events.jsonl` is authoritative. The files of the profile and of waivers are stored with the run, so that the run can be
judged in the same way later, even if the installed profiles change.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from rackcheck.base import safe_read, state
from rackcheck.base.user_error import UserError
from rackcheck.model.capture import Capture
from rackcheck.model.fact import Plane
from rackcheck.model.regex import regex
from rackcheck.profile.layers import did_you_mean
from rackcheck.run import stored_forms
from rackcheck.run.event import Answered, Judged, RunDone, RunStarted
from rackcheck.run.kept_replies import kept_replies
from rackcheck.run.raw_reply import DAMAGED, LARGEST, check_digest, stored_reply

T = TypeVar("T")

FORMAT = 1

COMPRESSED = 16
"""About how many times larger a raw reply is than its file."""

LAST = "last"
"""The word for the newest run, in place of its id."""

AGAIN_OF = "again-of"
"""The key in `run.json` with the id of the earlier run, if this run read nodes of the earlier run again."""

END = 4096
"""Number of bytes at the end of `events.jsonl` that contain the event `run done`."""


def runs_folder() -> Path:
    """Return the folder of runs on this system."""
    return state.folder("runs")


@dataclass(frozen=True)
class Stored:
    """A stored run."""

    folder: Path
    head: Mapping[str, Any]

    @property
    def burned_in(self) -> bool:
        """Whether this run is a burn-in, and not an audit."""
        planes = self.head.get("planes")
        return isinstance(planes, list) and Plane.BURNIN.value in planes

    @property
    def again_of(self) -> str:
        """The id of the earlier run whose nodes this run read again; empty if it is not such a run."""
        earlier = self.head.get(AGAIN_OF)
        return earlier if isinstance(earlier, str) else ""

    def documents(self, event: str = "", nodes: Collection[str] = ()) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield every stored event with its line number; an incomplete last line without a line feed is ignored.

        With `event`, lines that begin as another event are not parsed: the facts take nearly all of a run's bytes.
        With `nodes`, lines that begin as an event of another node are not parsed, unless they have all facts of a node:
        other nodes may be stored as differences from them.
        """
        path = self.folder / "events.jsonl"
        wanted = frozenset(node.encode() for node in nodes)
        for number, line in enumerate(_lines(path), start=1):
            if (event and _begins_other(line, event)) or (wanted and _is_of_another(line, wanted)):
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
            check_digest(stored_forms.word(doc, "raw"))
        return stored_forms.answered(doc, None)

    def _answer(self, doc: Mapping[str, Any]) -> Answered:
        plane = Plane(doc["plane"])
        return stored_forms.answered(doc, self.held(stored_forms.word(doc, "raw"), plane) if "raw" in doc else None)

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
        return self.last_done() or next(self._each("run done", stored_forms.done), None)

    def last_done(self) -> RunDone | None:
        """Return the event `run done` if it is the last one, as in a run that ended; read only the end of the file."""
        place = self.folder / "events.jsonl"
        try:
            with safe_read.opened(place) as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - END))
                line = file.read(END).rpartition(b"\n")[0].rpartition(b"\n")[2]
        except OSError as error:
            raise UserError(f"cannot read {place}: {error.strerror}") from None
        try:
            doc = json.loads(line)
            return stored_forms.done(doc) if doc["event"] == "run done" else None
        except DAMAGED:
            return None

    def _each(self, event: str, build: Callable[[Mapping[str, Any]], T]) -> Iterator[T]:
        for number, doc in self.documents(event):
            if doc["event"] == event:
                try:
                    built = build(doc)
                except DAMAGED as error:
                    message = f"line {number}, an event `{event}`, is damaged: {error!r}"
                    raise UserError(f"{self.folder}/events.jsonl: {message}") from None
                yield built

    def capture(self, digest: str, plane: Plane) -> Capture:
        """Read a raw reply; raises ValueError if the digest is invalid, and UserError if the file was changed."""
        found = self.held(digest, plane)
        found.load()
        return found

    def held(self, digest: str, plane: Plane) -> Capture:
        """Return a raw reply that is compared with its digest and parsed when it is used.

        A node whose facts are kept is only compared (`check`), and before its facts are used.
        """
        later, size = stored_reply(self.folder, digest, plane)
        found = kept_replies.capture(digest, plane, size * COMPRESSED, later)
        if found is not later:  # it may be parsed already, before the file was changed
            found.check()
        return found


_BEGIN = regex(rb'\{"event":"([a-z ]{1,40})",')


def _begins_other(line: bytes, event: str) -> bool:
    """Return whether a complete line begins with the name of another event, as `RunWriter` writes it."""
    match = _BEGIN.match(line)
    return match is not None and match[1] != event.encode() and line.endswith(b"}\n")


_NODE = regex(rb'\{"event":"[a-z ]{1,40}","node":"([^"\\]{1,200})",(?!"facts":)')


def _is_of_another(line: bytes, nodes: frozenset[bytes]) -> bool:
    """Return whether a complete line begins as an event of another node, as `RunWriter` writes it."""
    match = _NODE.match(line)
    return match is not None and match[1] not in nodes and line.endswith(b"}\n")


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


def find(run: str) -> Stored:
    """Find a run by its id or folder; raises UnknownRun with the most similar id if there is no such run."""
    folder = Path(run)
    if not (folder / "run.json").is_file():
        known = ids()
        if run not in known:
            _no_run(folder)
            raise UnknownRun(f"no run {run}{near(run) or _where(known)}")
        folder = runs_folder() / run
    try:
        head = json.loads(safe_read.text(folder / "run.json", LARGEST))
    except (ValueError, RecursionError) as error:
        raise UserError(f"cannot read {folder / 'run.json'}: {error}") from None
    if not isinstance(head, dict) or head.get("rackcheck") != FORMAT:
        raise UserError(f"{folder / 'run.json'} is not a run of format {FORMAT}")
    return Stored(folder, head)


class UnknownRun(UserError):
    """Raised if no stored run has the given name."""


def near(name: str, others: Iterable[str] = ()) -> str:
    """Format the hint `; did you mean …?` with similar names of others and of runs; empty if none is similar."""
    known = ids()
    return did_you_mean(name, [*others, *([LAST] if known else []), *known])


def _where(known: Collection[str]) -> str:
    return "; `rackcheck runs list` shows them" if known else "; there are none yet"


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
