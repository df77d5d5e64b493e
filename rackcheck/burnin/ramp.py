"""Schedules the starts of a burn-in: the power of all nodes rises slowly, and never exceeds a budget. Pure.

The time is an argument, in milliseconds since the run began; power is in watts. Both are integers, so that sums are
exact. A node first reserves its power, then connects, and then starts when its turn comes. An unreachable node
therefore never counts towards the power added per second, and every node under load has reserved its power.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from rackcheck.parse.burnin.plan import apart

STEP_NODES = 10
"""Maximum number of nodes that start in one second (rackcheck.choice: no published limit is known)."""

STEP_WATTS = 100_000
"""Default maximum of the power, in watts, that is added in one second (rackcheck.choice)."""

PERIOD = 1000
"""The length of a step, in milliseconds: the limits on nodes and watts hold for any span of this length."""

AHEAD = 64
"""Maximum number of nodes that connect, or are connected and wait for their turn."""

CONNECTING = 180.0
"""With `in_step`, the maximum time in seconds that a connected node waits for the slowest connection."""


@dataclass(frozen=True, slots=True)
class NodeLoad:
    """The highest power (W) that a node is expected to draw, and the rack and the PDU that supply it."""

    name: str
    watts: int
    rack: str = ""
    pdu: str = ""


@dataclass(frozen=True)
class PowerLimits:
    """Limits in watts: added per second, in all, per rack and per PDU. With `in_step`, all nodes start together.

    `apart` is the minimum time between two starts in seconds if other controllers start nodes at the same time; it is
    0 if there are none.
    """

    rate: int = STEP_WATTS
    total: int | None = None
    racks: Mapping[str, int] = field(default_factory=dict)
    pdus: Mapping[str, int] = field(default_factory=dict)
    in_step: bool = False
    apart: float = 0.0

    def bounds(self, load: NodeLoad) -> Iterator[tuple[str, str, int]]:
        """Yield the kind and the name of each supply of a node that has a budget, and the budget (W)."""
        if self.total is not None:
            yield "all", "", self.total
        for kind, name, budgets in (("rack", load.rack, self.racks), ("PDU", load.pdu, self.pdus)):
            if name in budgets:
                yield kind, name, budgets[name]


class State(Enum):
    """Where a node is in the schedule; every state but `WAITING` and `OVER` holds a reservation of its power."""

    WAITING = auto()
    CONNECTING = auto()
    READY = auto()
    LOADED = auto()
    OVER = auto()


HOLDS = frozenset({State.CONNECTING, State.READY, State.LOADED})


@dataclass(frozen=True)
class Ramp:
    """The state of a schedule: the nodes in the order of their start, their states, and the starts of the last step."""

    loads: tuple[NodeLoad, ...]
    limits: PowerLimits = field(default_factory=PowerLimits)
    states: Mapping[str, State] = field(default_factory=dict)
    starts: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, loads: Iterable[NodeLoad], limits: PowerLimits) -> "Ramp":
        """Return the schedule before the first start; raises ValueError if a node could never start."""
        given = ordered(loads)
        if wrong := problems(given, limits):
            raise ValueError("; ".join(wrong))
        return cls(given, limits, {load.name: State.WAITING for load in given})

    def connected(self, name: str) -> "Ramp":
        """Return the schedule after a node has connected."""
        return replace(self, states={**self.states, name: State.READY})

    def over(self, name: str) -> "Ramp":
        """Return the schedule after a node's burn-in has ended, or could not start: its reservation ends."""
        return replace(self, states={**self.states, name: State.OVER})

    @property
    def done(self) -> bool:
        """Whether the burn-in of every node has ended."""
        return all(state is State.OVER for state in self.states.values())

    @property
    def watts(self) -> int:
        """The power that is reserved now (W)."""
        return sum(load.watts for load in self.loads if self.states[load.name] in HOLDS)

    @property
    def patience(self) -> float:
        """An upper estimate of the time (s) that a connected node waits for its turn."""
        if len(self.loads) < 2:
            return 0.0
        if self.limits.in_step:
            return CONNECTING
        slowest = max(self._apart, max(load.watts for load in self.loads) * PERIOD // self.limits.rate)
        return 2 * min(len(self.loads), AHEAD) * slowest / 1000

    @property
    def _apart(self) -> int:
        """The minimum time between two starts (ms)."""
        return round(1000 * (self.limits.apart or apart(len(self.loads))))

    def turn(self, now: int) -> "NodeTurn":
        """Return which nodes connect now and which start now, in order, and when to call `turn` again."""
        connect = tuple(self._connects())
        ramp = replace(self, states={**self.states, **dict.fromkeys(connect, State.CONNECTING)}) if connect else self
        start, wake = ramp._starts(now)  # noqa: SLF001  our own class
        if start:
            watts = {load.name: load.watts for load in self.loads}
            recent = tuple(row for row in ramp.starts if row[0] > now - PERIOD)
            states = {**ramp.states, **dict.fromkeys(start, State.LOADED)}
            ramp = replace(ramp, states=states, starts=(*recent, *((now, watts[name]) for name in start)))
        return NodeTurn(ramp, connect, start, wake)

    def _connects(self) -> Iterator[str]:
        """Yield the waiting nodes, in order, whose power fits into every budget; a later node may fit into a gap."""
        used: Counter[tuple[str, str]] = Counter()
        ahead = 0
        for load in self.loads:
            state = self.states[load.name]
            if state in HOLDS:
                used.update({(kind, name): load.watts for kind, name, _ in self.limits.bounds(load)})
                ahead += state is not State.LOADED
        for load in self.loads:
            if ahead >= AHEAD and not self.limits.in_step:
                return
            bounds = list(self.limits.bounds(load))
            if self.states[load.name] is not State.WAITING:
                continue
            if all(used[kind, name] + load.watts <= most for kind, name, most in bounds):
                used.update({(kind, name): load.watts for kind, name, _ in bounds})
                ahead += 1
                yield load.name

    def _starts(self, now: int) -> tuple[tuple[str, ...], int | None]:
        ready = [load for load in self.loads if self.states[load.name] is State.READY]
        if not ready:
            return (), None
        if self.limits.in_step:
            early = any(state in {State.WAITING, State.CONNECTING} for state in self.states.values())
            return (() if early else tuple(load.name for load in ready)), None
        at = self._earliest(ready[0], now)
        if at > now:
            return (), at
        more = now + self._apart if len(ready) > 1 else None
        return (ready[0].name,), more

    def _earliest(self, load: NodeLoad, now: int) -> int:
        """Return the earliest time (ms) at which a node may start after the starts so far."""
        at = max(now, self.starts[-1][0] + self._apart) if self.starts else now
        for number, (begun, _) in enumerate(self.starts):
            if begun <= at - PERIOD:
                continue
            window = self.starts[number:]
            if len(window) < STEP_NODES and sum(watts for _, watts in window) + load.watts <= self.limits.rate:
                break
            at = max(at, begun + PERIOD)
        return at


@dataclass(frozen=True, slots=True)
class NodeTurn:
    """The result of one turn: the schedule, the nodes that connect and start now, and the time of the next turn (ms).

    `wake` is None if nothing can change before a node connects or ends.
    """

    ramp: Ramp
    connect: tuple[str, ...]
    start: tuple[str, ...]
    wake: int | None


def ordered(loads: Iterable[NodeLoad]) -> tuple[NodeLoad, ...]:
    """Return the nodes in the order of their start: rack after rack, and within a rack alternately from its PDUs."""
    racks: dict[str, dict[str, list[NodeLoad]]] = {}
    for load in loads:
        racks.setdefault(load.rack, {}).setdefault(load.pdu, []).append(load)
    found: list[NodeLoad] = []
    for pdus in racks.values():
        longest = max(map(len, pdus.values()))
        found += [nodes[number] for number in range(longest) for nodes in pdus.values() if number < len(nodes)]
    return tuple(found)


def problems(loads: Sequence[NodeLoad], limits: PowerLimits) -> list[str]:
    """Return why a burn-in cannot keep its limits: a node, or with `in_step` all nodes, need more than a limit."""
    found: list[str] = []
    sums: Counter[tuple[str, str]] = Counter()
    budgets: dict[tuple[str, str], int] = {}
    for load in loads:
        if load.watts > limits.rate and not limits.in_step:
            rate = kilo(limits.rate)
            found.append(f"{load.name} needs {kilo(load.watts)}, more than the {rate} that may be added per second")
        for kind, name, most in limits.bounds(load):
            sums[kind, name] += load.watts
            budgets[kind, name] = most
            if load.watts > most:
                found.append(f"{load.name} needs {kilo(load.watts)}, more than {_budget(kind, name, most)}")
    for (kind, name), watts in sums.items() if limits.in_step and not found else ():
        most = budgets[kind, name]
        if watts > most:
            found.append(f"the nodes need {kilo(watts)} together, more than {_budget(kind, name, most)}")
    return found


def _budget(kind: str, name: str, watts: int) -> str:
    return f"the power budget of {kilo(watts)}" + (f" of {kind} {name}" if name else "")


def together(loads: Sequence[NodeLoad], limits: PowerLimits) -> tuple[int, int]:
    """Return the maximum number of nodes that can be under load at once, and an upper bound of their power (W)."""
    watts, nodes = 0, 0
    for rack in dict.fromkeys(load.rack for load in loads):
        inside = sorted(load.watts for load in loads if load.rack == rack)
        most = min(sum(inside), limits.racks.get(rack, sum(inside)))
        watts += most
        nodes += _fit(inside, most)
    if limits.total is None or watts <= limits.total:
        return nodes, watts
    return min(nodes, _fit(sorted(load.watts for load in loads), limits.total)), limits.total


def _fit(watts: Iterable[int], most: int) -> int:
    """Return how many values, taken from the smallest on, have a sum of at most `most`."""
    total = count = 0
    for each in watts:
        total += each
        if total > most:
            break
        count += 1
    return count


def kilo(watts: float) -> str:
    """Format a power in kilowatts, with at most three significant decimals: `14.3 kW`."""
    return f"{watts / 1000:,.3f}".rstrip("0").rstrip(".") + " kW"
