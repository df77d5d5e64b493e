"""A run on disk: `run.json`, `events.jsonl` (the truth, append-only), `raw/` (replies by content hash), `profile/`.

The profile's own files are kept, so that the run is judged the same for ever, whatever becomes of the library.
"""

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import platformdirs

from rackcheck.core.capture import BmcCapture, Capture, NodeCapture
from rackcheck.core.event import (
    Answered,
    Event,
    Judged,
    RunDone,
    RunStarted,
    judged_from_json,
    to_json,
    trouble_from_json,
)
from rackcheck.core.fact import Plane
from rackcheck.core.verdict import Outcome
from rackcheck.layers import did_you_mean
from rackcheck.mistake import Mistake

T = TypeVar("T")

FORMAT = 1


def runs_folder() -> Path:
    """Where runs live on this system."""
    home = os.environ.get("RACKCHECK_HOME")
    return (Path(home) if home else platformdirs.user_state_path("rackcheck")) / "runs"


def raw_bytes(capture: Capture) -> bytes:
    """Give the stored form of a capture: canonical, so that equal answers are equal bytes."""
    return json.dumps(capture.to_json(), sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()


class Writer:
    """Writes one run as it happens; what has been given is on disk."""

    def __init__(self, folder: Path, head: Mapping[str, Any], profile: Mapping[str, str]) -> None:
        try:
            (folder / "raw").mkdir(parents=True)
            (folder / "profile").mkdir()
            for name, content in profile.items():
                (folder / "profile" / name).write_text(content, encoding="utf-8")
            text = json.dumps({"rackcheck": FORMAT, **head}, indent=2, ensure_ascii=False)
            (folder / "run.json").write_text(text + "\n", encoding="utf-8")
            self._events = (folder / "events.jsonl").open("x", encoding="utf-8")
        except FileExistsError:
            raise Mistake(f"{folder} is there already; a run is never written over") from None
        except OSError as error:
            raise Mistake(f"cannot write a run to {folder}: {error.strerror}") from None
        self.folder = folder

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._events.close()

    def write(self, event: Event) -> Event:
        """Store an event; an answer comes back with the digest of its raw side."""
        if isinstance(event, Answered) and event.capture is not None:
            event = replace(event, digest=self._keep(event.capture))
        doc = to_json(event)
        if doc is not None:
            self._events.write(json.dumps(doc, ensure_ascii=True, separators=(",", ":")) + "\n")
            self._events.flush()
        return event

    def _keep(self, capture: Capture) -> str:
        data = raw_bytes(capture)
        digest = hashlib.sha256(data).hexdigest()
        path = self.folder / "raw" / f"{digest}.json.gz"
        if not path.exists():
            fresh = path.with_suffix(".new")
            fresh.write_bytes(gzip.compress(data, compresslevel=6, mtime=0))
            fresh.replace(path)
        return digest


@dataclass(frozen=True)
class Stored:
    """A run read back."""

    folder: Path
    head: Mapping[str, Any]

    def documents(self) -> Iterator[Mapping[str, Any]]:
        """Every event as stored, in order; a torn last line is passed over, a torn one before it is an error."""
        try:
            lines = (self.folder / "events.jsonl").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            raise Mistake(f"cannot read {self.folder}/events.jsonl: {error.strerror}") from None
        for number, line in enumerate(lines, start=1):
            try:
                doc = json.loads(line)
            except ValueError:
                if number == len(lines):
                    return
                raise Mistake(f"{self.folder}/events.jsonl: line {number} is damaged") from None
            if not isinstance(doc, dict) or not isinstance(doc.get("event"), str):
                raise Mistake(f"{self.folder}/events.jsonl: line {number} is no event")
            yield doc

    def answers(self) -> Iterator[Answered]:
        """Every answer with its raw side."""
        return self._each("answered", self._answer)

    def _answer(self, doc: Mapping[str, Any]) -> Answered:
        plane = Plane(doc["plane"])
        capture = self._capture(doc["raw"], plane) if "raw" in doc else None
        trouble, note = trouble_from_json(doc), doc.get("note", "")
        return Answered(doc["node"], plane, doc["time"], trouble, capture, doc.get("raw", ""), note)

    def judged(self) -> tuple[Judged, ...]:
        """Every node's verdicts, as they were given."""
        return tuple(self._each("judged", judged_from_json))

    def started(self) -> RunStarted:
        """How the run began; raises Mistake where it does not say."""
        found = next(self._each("run started", _started), None)
        if found is None:
            raise Mistake(f"{self.folder}/events.jsonl does not say how the run began")
        return found

    def done(self) -> RunDone | None:
        """How the run ended, if it did."""
        return next(self._each("run done", _done), None)

    def _each(self, event: str, build: Callable[[Mapping[str, Any]], T]) -> Iterator[T]:
        for doc in self.documents():
            if doc["event"] == event:
                try:
                    built = build(doc)
                except (KeyError, TypeError, ValueError, AttributeError) as error:
                    raise Mistake(f"{self.folder}/events.jsonl: an event `{event}` is damaged: {error!r}") from None
                yield built

    def _capture(self, digest: str, plane: Plane) -> Capture:
        path = self.folder / "raw" / f"{digest}.json.gz"
        try:
            data = gzip.decompress(path.read_bytes())
        except (OSError, EOFError, zlib.error) as error:
            raise Mistake(f"cannot read the raw answer {path}: {error}") from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise Mistake(f"{path} is not what its name says: it was changed after the run")
        doc = json.loads(data)
        return BmcCapture.from_json(doc) if plane is Plane.BMC else NodeCapture.from_json(doc)


def _started(doc: Mapping[str, Any]) -> RunStarted:
    names = ("run", "time", "version", "profile", "profile_version", "digest", "targets")
    texts = {name: str(doc[name]) for name in names}
    return RunStarted(**texts, nodes=tuple(doc["nodes"]), planes=tuple(doc["planes"]))


def _done(doc: Mapping[str, Any]) -> RunDone:
    return RunDone(doc["time"], Outcome(doc["outcome"]), doc.get("interrupted", False))


def find(run: str) -> Stored:
    """Find a run by id or folder; `last` is the newest; raises Mistake with the nearest id."""
    folder = Path(run)
    if not (folder / "run.json").is_file():
        known = ids()
        if run == "last" and known:
            run = known[-1]
        if run not in known:
            hint = did_you_mean(run, known) or (
                "; `rackcheck runs list` shows them" if known else "; there is none yet"
            )
            raise Mistake(f"no run {run}{hint}")
        folder = runs_folder() / run
    try:
        head = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Mistake(f"cannot read {folder / 'run.json'}: {error}") from None
    if not isinstance(head, dict) or head.get("rackcheck") != FORMAT:
        raise Mistake(f"{folder / 'run.json'} is no run of format {FORMAT}")
    return Stored(folder, head)


def ids() -> list[str]:
    """Every run's id, the oldest first."""
    folder = runs_folder()
    return sorted(p.parent.name for p in folder.glob("*/run.json")) if folder.is_dir() else []
