"""Jobs of which only as many run at the same time as limits allow, in the order in which they were added."""

import itertools
import math
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from rackcheck.inventory import AskLimit, Node
from rackcheck.model.fact import Plane

J = TypeVar("J")

Limits = tuple[tuple[int, int], ...]
"""The numbers of the limits that hold for a job, each with the maximum number of its jobs at the same time."""


def limits_of(limits: Sequence[AskLimit], node: Node, plane: Plane) -> Limits:
    """Return the limits of an inventory that hold for a plane of a node."""
    return tuple(
        (number, most)
        for number, limit in enumerate(limits)
        if (most := limit.most.get(plane)) is not None and node.name in limit.nodes
    )


class LimitedQueue(Generic[J]):
    """Jobs that wait; one for which a limit leaves no room is taken later than those after it. Not locked.

    Jobs with the same limits are in one queue, so that the time to take one does not depend on how many wait.
    """

    def __init__(self, limits: Callable[[J], Limits]) -> None:
        self._limits = limits
        self._waiting: dict[Limits, deque[tuple[int, J]]] = {}
        self._running: Counter[int] = Counter()
        self._order = itertools.count()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    @property
    def most(self) -> float:
        """The maximum number of the jobs that wait which may run at the same time; infinite if one has no limit."""
        return sum(min((most for _, most in limits), default=math.inf) for limits in self._waiting)

    def add(self, job: J) -> None:
        """Add a job behind all others."""
        self._waiting.setdefault(self._limits(job), deque()).append((next(self._order), job))

    def take(self) -> J | None:
        """Return the first job that may run now, and count it as running; None if there is none."""
        ready = [limits for limits in self._waiting if all(self._running[number] < most for number, most in limits)]
        if not ready:
            return None
        first = min(ready, key=lambda limits: self._waiting[limits][0][0])
        _, job = self._waiting[first].popleft()
        if not self._waiting[first]:
            del self._waiting[first]
        self._running.update(number for number, _ in first)
        return job

    def done(self, job: J) -> None:
        """Count a job no longer as running."""
        self._running.subtract(number for number, _ in self._limits(job))
