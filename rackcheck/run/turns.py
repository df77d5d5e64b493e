"""The order in which the planes of a run are asked, and how many at the same time."""

import heapq
import itertools
import resource
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.inventory import AskLimit, Node
from rackcheck.model.fact import Plane
from rackcheck.run.limited_queue import LimitedQueue, limits_of

WIDTH: Mapping[Plane, int] = {Plane.OS: 128, Plane.BMC: 512}
"""Maximum number of planes of a kind that are asked at the same time, if enough files can be open.

More SSH connections take more CPU time for each; a BMC answers slowly, and its client waits. The memory budget limits
how many replies are read at the same time.
"""

FILES: Mapping[Plane, int] = {Plane.OS: 6, Plane.BMC: 3}
"""Number of open files for a plane that is asked: the pipes of an SSH client, and the parallel GETs of a BMC."""

OTHER_FILES = 128
"""Number of files that the rest of the program may have open."""

POLL = 1.0
"""Seconds between two checks of a waiting worker for an interrupt."""

Times = tuple[float, float]
"""Start and end of a plane's request, in seconds of the monotonic clock."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A plane to ask, not before the time `due` of the monotonic clock.

    For a second reading, `before` contains the times of the first one.
    """

    node: Node
    plane: Plane
    due: float = 0.0
    before: Times | None = None


class Turns:
    """The planes of one kind that are still to be asked; safe for use by several threads.

    Planes are asked in the order in which they were added; one for which a limit of the inventory leaves no room is
    asked later.
    """

    def __init__(self, first: Iterable[Turn], limits: Sequence[AskLimit], stop: threading.Event) -> None:
        self._now = LimitedQueue[Turn](lambda turn: limits_of(limits, turn.node, turn.plane))
        for turn in first:
            self._now.add(turn)
        self._later: list[tuple[float, int, Turn]] = []
        self._order = itertools.count()
        self._stop = stop
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._now) + len(self._later)

    @property
    def width(self) -> int:
        """The maximum number of planes that are asked at the same time; a second reading is limited as the first."""
        return int(min(self._now.most, len(self)))

    def add(self, turn: Turn) -> None:
        """Ask a plane later; called before the worker that adds it is done with its own plane."""
        with self._changed:
            heapq.heappush(self._later, (turn.due, next(self._order), turn))
            self._changed.notify()

    def take(self) -> Turn | None:
        """Wait for the next plane that may be asked; None if there is none left, or after an interrupt."""
        with self._changed:
            while (self._now or self._later) and not self._stop.is_set():
                now = time.monotonic()
                while self._later and self._later[0][0] <= now:
                    self._now.add(heapq.heappop(self._later)[-1])
                turn = self._now.take()
                if turn is not None:
                    return turn
                self._changed.wait(min(POLL, self._later[0][0] - now) if self._later else POLL)
            return None

    def done(self, turn: Turn) -> None:
        """Record that a plane was asked."""
        with self._changed:
            self._now.done(turn)
            self._changed.notify()  # the worker that is done takes a turn, too


def widths() -> Mapping[Plane, int]:
    """Return how many planes of each kind are asked at the same time, by the number of files that may be open.

    The limit of this process for open files is raised as far as the system allows it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OTHER_FILES + sum(WIDTH[plane] * FILES[plane] for plane in WIDTH)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    share = 1.0 if soft == resource.RLIM_INFINITY else min(1.0, max(0, soft - OTHER_FILES) / (wanted - OTHER_FILES))
    return {plane: max(1, int(most * share)) for plane, most in WIDTH.items()}
