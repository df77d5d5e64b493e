"""The replies of a running audit that are on disk, so that they need not be held in memory until they are read."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import Plane
from rackcheck.run import raw_reply
from rackcheck.run.event import Answered


class StoredReplies:
    """The replies of a running audit that are on disk: the consumer of its events adds them, the audit takes them."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Plane, int], Answered] = {}

    def add(self, folder: Path, answered: Answered) -> None:
        """Add an answer whose reply was stored in the folder of a run."""
        if answered.capture is not None and answered.digest:
            with suppress(UserError):  # it is gone again: the reply in memory is used
                later = raw_reply.stored_reply(folder, answered.digest, answered.plane)[0]
                self._found[answered.node, answered.plane, answered.reading] = replace(answered, capture=later)

    def take(self, answered: Answered) -> Answered | None:
        """Return the answer with its stored reply in place of the one in memory; None if it was not stored."""
        return self._found.pop((answered.node, answered.plane, answered.reading), None)
