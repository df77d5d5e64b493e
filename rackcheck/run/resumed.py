"""A run that was cut off or interrupted, and is continued: which of its answers are complete, and its further events.

Complete answers stay as they are. The rest of the run is asked again, as if nothing had been asked of it.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from rackcheck.base.user_error import UserError
from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.run.event import Answered, Event, RunStarted
from rackcheck.run.raw_reply import synced
from rackcheck.run.run_writer import EventsWriter, locked
from rackcheck.run.store import Stored
from rackcheck.transport.memory import INTERRUPTED

STOPPED = Unknown(Reason.NOT_COLLECTED, "the run was interrupted")
"""The reason of a plane that had not answered when its run was interrupted."""

Key = tuple[str, Plane, int]
"""A node, a plane, and the number of the reading."""


def key(answer: Answered) -> Key:
    """Return what an answer is the answer to; a run has one answer for each key."""
    return answer.node, answer.plane, answer.reading


def complete(answers: Iterable[Answered], wanted: Mapping[str, Collection[tuple[Plane, int]]]) -> list[Answered]:
    """Return the answers that need not be asked again, the first one for each key, in their order.

    An answer that an interrupt cut short is asked again. If a second reading is wanted and missing, the first one is
    asked again, too: the time between both is measured by one clock.
    """
    found: dict[Key, Answered] = {}
    for answer in answers:
        if (answer.plane, answer.reading) in wanted.get(answer.node, ()) and not was_interrupted(answer):
            found.setdefault(key(answer), answer)
    return [
        answer
        for answer in found.values()
        if not answer.has_reply
        or all(
            (answer.node, answer.plane, reading) in found
            for plane, reading in wanted[answer.node]
            if plane is answer.plane
        )
    ]


def was_interrupted(answer: Answered) -> bool:
    """Whether an interrupt of the run cut an answer short."""
    if answer.trouble in {STOPPED, INTERRUPTED}:
        return True
    return isinstance(answer.capture, BmcCapture) and INTERRUPTED in answer.capture.bodies.values()


class ResumedWriter(EventsWriter):
    """Continues to write a run: first its start and the answers that stay, then the events that it does not have yet.

    Until the new events are on disk, the run has the old ones. Raises UserError if another process writes the run, or
    if the events cannot be written.
    """

    def __init__(self, stored: Stored, answers: Sequence[Answered]) -> None:
        path = stored.folder / "events.jsonl"
        try:
            self._old = path.open("rb")
            if not locked(self._old):
                self._old.close()
                raise UserError(f"{stored.folder} is still being written by another process")
            fresh = path.with_suffix(".new")
            super().__init__(stored.folder, fresh.open("w", encoding="utf-8"))
            self._there = {key(answer) for answer in answers}
            super()._write(stored.started())
            for answer in answers:
                super()._write(answer)
            os.fsync(self._events.fileno())
            fresh.replace(path)
            synced(stored.folder)
        except OSError as error:
            raise UserError(f"cannot continue the run {stored.folder}: {error.strerror}") from None

    def close(self) -> None:
        """Close the run as `EventsWriter`, and let other processes continue it."""
        self._old.close()
        super().close()

    def _write(self, event: Event) -> Event:
        there = isinstance(event, RunStarted) or (isinstance(event, Answered) and key(event) in self._there)
        return event if there else super()._write(event)
