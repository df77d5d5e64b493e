"""The order in which the planes of a run are asked, and how many at the same time."""

import heapq
import itertools
import resource
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.inventory import AskLimit, Node
from rackcheck.model.fact import Plane

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
        self._todo = list(first)
        self._later: list[tuple[float, int, Turn]] = []
        self._order = itertools.count()
        self._stop = stop
        self._limits = limits
        self._asked: Counter[int] = Counter()
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._todo) + len(self._later)

    def add(self, turn: Turn) -> None:
        """Ask a plane later; called before the worker that adds it is done with its own plane."""
        with self._changed:
            heapq.heappush(self._later, (turn.due, next(self._order), turn))
            self._changed.notify()

    def take(self) -> Turn | None:
        """Wait for the next plane that may be asked; None if there is none left, or after an interrupt."""
        with self._changed:
            while len(self) and not self._stop.is_set():
                now = time.monotonic()
                while self._later and self._later[0][0] <= now:
                    self._todo.append(heapq.heappop(self._later)[-1])
                place = next((place for place, turn in enumerate(self._todo) if self._has_room(turn)), None)
                if place is not None:
                    turn = self._todo.pop(place)
                    self._count(turn, 1)
                    return turn
                self._changed.wait(min(POLL, self._later[0][0] - now) if self._later else POLL)
            return None

    def done(self, turn: Turn) -> None:
        """Record that a plane was asked."""
        with self._changed:
            self._count(turn, -1)
            self._changed.notify()  # the worker that is done takes a turn, too

    def _limits_of(self, turn: Turn) -> Iterable[tuple[int, int]]:
        """Yield the number of each limit of a plane, and its value."""
        for number, limit in enumerate(self._limits):
            most = limit.most.get(turn.plane)
            if most is not None and turn.node.name in limit.nodes:
                yield number, most

    def _has_room(self, turn: Turn) -> bool:
        return all(self._asked[number] < most for number, most in self._limits_of(turn))

    def _count(self, turn: Turn, by: int) -> None:
        for number, _ in self._limits_of(turn):
            self._asked[number] += by


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
