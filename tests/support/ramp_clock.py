"""A burn-in's schedule on a virtual clock: nodes connect, run and end in simulated milliseconds."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

from rackcheck.burnin.ramp import NodeLoad, Ramp


@dataclass(frozen=True)
class Loaded:
    """One node under load, from `begin` to `end` in milliseconds."""

    load: NodeLoad
    begin: int
    end: int


def clocked(ramp: Ramp, connect: Mapping[str, int | None], length: Mapping[str, int]) -> list[Loaded]:
    """Return the loads in the order of their start.

    `connect` is the time that each node takes to connect (ms), None if it never does and gives up after 10 s; `length`
    is the time that each node is under load (ms).
    """
    loads = {load.name: load for load in ramp.loads}
    events: list[tuple[int, int, str, str]] = []
    found: list[Loaded] = []
    now, number = 0, 0
    while not ramp.done:
        turn = ramp.turn(now)
        ramp = turn.ramp
        coming = [(10_000 if connect[n] is None else connect[n], "over" if connect[n] is None else "up", n)
                  for n in turn.connect]  # fmt: skip
        coming += [(length[name], "over", name) for name in turn.start]
        found += [Loaded(loads[name], now, now + length[name]) for name in turn.start]
        for after, what, name in coming:
            number += 1
            heapq.heappush(events, (now + (after or 0), number, what, name))
        if turn.wake is not None and (not events or turn.wake < events[0][0]):
            assert turn.wake > now or turn.start, "the schedule does not go on"
            now = max(now, turn.wake)
            continue
        assert events or ramp.done, "the schedule waits for nothing"
        if turn.wake is not None and turn.wake <= now:
            continue
        if events:
            now, _, what, name = heapq.heappop(events)
            ramp = ramp.connected(name) if what == "up" else ramp.over(name)
    return found
