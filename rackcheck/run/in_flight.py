"""The replies between their arrival and the verdicts of their nodes: in memory, or on disk if memory is short."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.run.event import Answered
from rackcheck.run.parked import Parked, ParkingFile
from rackcheck.transport.memory import LARGE, Allowance, MemoryBudget

WAITING = 8
"""The share of the budget for replies that wait in memory for other replies of their node: an eighth."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a plane; a reply on disk has a place there, and no capture in its event `answered`.

    `size` is the memory that a reply on disk takes when it is read back, in bytes.
    """

    answered: Answered
    allowance: Allowance
    parked: Parked | None = None
    size: int = 0


class RepliesInFlight:
    """The replies of a run that are not judged yet; only `allowance` and `arrived` are called by several threads."""

    def __init__(self, size: int, parking: ParkingFile) -> None:
        self.budget = MemoryBudget(size)
        self._parking = parking
        self._waiting = 0

    def allowance(self, stop: threading.Event) -> Allowance:
        """Return the allowance for the reply of a plane; it has no memory until the node has answered."""
        return Allowance(self.budget, stop)

    def arrived(self, answered: Answered, allowance: Allowance) -> Reply:
        """Return a complete reply; a large one is written to disk, so that memory is free for other replies.

        If the disk is full, the reply is lost, with the reason.
        """
        allowance.settle()
        if answered.capture is not None and (allowance.used > LARGE or self.budget.has_reserve(allowance)):
            return self._park(answered, allowance)
        if answered.capture is None:
            allowance.close()
        return Reply(answered, allowance)

    def stored(self, reply: Reply, answered: Answered) -> Reply:
        """Return a reply that is stored in the run, as `answered`, in place of the one in memory or on disk."""
        self._remove(reply)
        return Reply(answered, reply.allowance)

    def waits(self, reply: Reply) -> Reply:
        """Return a reply that waits for other replies of its node; it is written to disk if too many wait in memory."""
        if self._waiting + reply.allowance.used > self.budget.size // WAITING:
            return self._park(reply.answered, reply.allowance)
        self._waiting += reply.allowance.used
        return reply

    def whole(self, reply: Reply) -> Answered:
        """Return the event `answered` of a reply, with its capture; a reply on disk is read."""
        if reply.parked is None:
            return reply.answered
        self.budget.keep_free(reply.size)
        try:
            return replace(reply.answered, capture=self._parking.read(reply.parked))
        except OSError as error:
            return _lost(reply.answered, error)

    @contextmanager
    def judged(self, waited: Iterable[Reply], last: Reply | None = None) -> Iterator[list[Answered]]:
        """Within the block, the replies of a node that waited are in memory; then they are removed, with the last one.

        The last reply is not in the list: the caller has its event.
        """
        waited = list(waited)
        all_of_node = [*waited, last] if last is not None else waited
        try:
            self.budget.keep_free(sum(reply.size for reply in all_of_node))
            yield [self.whole(reply) for reply in waited]
        finally:
            for reply in waited:
                self._waiting -= reply.allowance.used
            for reply in all_of_node:
                self._remove(reply)

    def _remove(self, reply: Reply) -> None:
        reply.allowance.close()
        if reply.parked is not None:
            self._parking.remove(reply.parked)

    def _park(self, answered: Answered, allowance: Allowance) -> Reply:
        assert answered.capture is not None
        size = allowance.used
        try:
            parked = self._parking.park(answered.capture)
        except OSError as error:
            return Reply(_lost(answered, error), allowance)
        finally:
            allowance.close()
        return Reply(replace(answered, capture=None), allowance, parked, size)


def _lost(answered: Answered, error: OSError) -> Answered:
    """Return the event of a reply that cannot be kept until its node is judged: its facts are unknown."""
    why = f"the reply was received, but could not be kept on disk until the node was judged: {clean(str(error), 200)}"
    return replace(answered, capture=None, trouble=Unknown(Reason.NOT_COLLECTED, why))
