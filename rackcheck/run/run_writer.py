"""Writes a run to disk, event by event; `store` describes the files."""

import fcntl
import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from rackcheck.base.user_error import UserError
from rackcheck.model.evidence import Verdict
from rackcheck.run.event import Answered, Event, FactsRead, Judged, judged_json, to_json, verdict_json
from rackcheck.run.raw_reply import RawFolder, synced
from rackcheck.run.store import FORMAT
from rackcheck.run.stored_facts import FactsWriter

NONE: Mapping[str, str] = {}


class EventsWriter:
    """Writes the events of a run in progress to its open file; `write` flushes each event to the file.

    The file is locked until it is closed, so that no other process continues the run meanwhile.
    """

    def __init__(self, folder: Path, events: IO[str]) -> None:
        self.folder = folder
        self._events = events
        self._raw = RawFolder(folder / "raw")
        self._facts, self._judged = FactsWriter(), _JudgedWriter()
        self._broken = False
        locked(events)

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
        if isinstance(event, Answered) and event.capture is not None and not self._raw.has(event.digest):
            event = replace(event, digest=self._raw.keep(event.capture))
        if isinstance(event, Judged):
            line = self._judged.line(event)
        else:
            doc = self._facts.doc(event.node, event.tree) if isinstance(event, FactsRead) else to_json(event)
            line = "" if doc is None else _json(doc)
        if line:
            self._events.write(line + "\n")
            self._events.flush()
        return event


_json = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


class _JudgedWriter:
    """Makes the events `judged` of one run; a verdict that nodes with the same facts share is encoded once."""

    MOST = 2048
    """Maximum number of verdicts whose JSON is kept."""

    def __init__(self) -> None:
        self._encoded: dict[int, tuple[Verdict, str]] = {}

    def line(self, event: Judged) -> str:
        """Return the event as one line, the JSON that `to_json` describes."""
        return f'{_json(judged_json(event))[:-1]},"verdicts":[{",".join(map(self._verdict, event.verdicts))}]}}'

    def _verdict(self, verdict: Verdict) -> str:
        known = self._encoded.get(id(verdict))
        if known is None:
            if len(self._encoded) >= self.MOST:
                self._encoded.clear()
            # The verdict is kept alive, since its identity is the key.
            known = self._encoded[id(verdict)] = verdict, _json(verdict_json(verdict))
        return known[1]


class RunWriter(EventsWriter):
    """Begins a run, and writes its events.

    A folder that this class creates is the user's alone. If a run cannot be created whole, nothing of it is left.
    """

    def __init__(
        self, folder: Path, head: Mapping[str, Any], profile: Mapping[str, str], waivers: Mapping[str, str] = NONE
    ) -> None:
        super().__init__(folder, _created(folder, head, profile, waivers))


def _created(folder: Path, head: Mapping[str, Any], profile: Mapping[str, str], waivers: Mapping[str, str]) -> IO[str]:
    """Create the files of a run; return the file of its events."""
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
        events = (folder / "events.jsonl").open("x", encoding="utf-8")
        synced(folder / "run.json", folder / "profile", folder)
    except BaseException as error:
        _remove_begun(folder)
        if isinstance(error, OSError):
            raise UserError(f"cannot write a run to {folder}: {error.strerror}") from None
        raise
    return events


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


def locked(file: IO[str] | IO[bytes]) -> bool:
    """Lock the events of a run until the file is closed; return False if another process has locked them.

    On a file system without locks, nothing is locked.
    """
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
