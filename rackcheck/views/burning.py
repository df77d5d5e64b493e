"""The state of a burn-in: all nodes under load, the measured values of their parts, and totals. Pure.

The state is updated by live `Burning` events, or by the same events from a stored run. Records are validated first,
because a node may print anything. Numbers are in SI units. Times are in seconds on the node's own clock.
"""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rackcheck.model.burn_record import Burn, Record
from rackcheck.model.fact import Plane, Unknown, clean
from rackcheck.model.path import spell_key
from rackcheck.model.text import natural
from rackcheck.parse.burnin.plan import STEP, StageSlot, Tier, slots, starts
from rackcheck.run.event import Answered, Burning, Event, FactsRead, Judged, NodeRequested, RunDone, RunStarted
from rackcheck.views.part import HOST, POINTS, WILD, History, LoadedPart

LATEST = 1e6
"""The maximum valid time of a record (s); a record with a later time is invalid."""

GPUS = 256
"""Maximum number of GPUs that are tracked on one node."""


@dataclass(slots=True)
class LoadedNode:
    """One node under load: its parts, measurements of its BMC during the load, and how the burn-in ended on the node.

    Once the load is over, `ended` is `whole` if the load ran to its end, or `stopped`; `trouble` is the reason why data
    is missing. `began` is the number of seconds from the start of the first node to the start of this node.
    `numbers` maps the name of a GPU in facts to its name in records, such as `gpu/module-3` to `gpu/5`.
    """

    node: str
    host: LoadedPart
    gpus: dict[str, LoadedPart] = field(default_factory=dict)
    bmc: History = field(default_factory=History)
    hello: dict[str, Any] = field(default_factory=dict)
    air: dict[str, float] = field(default_factory=dict)
    t: float = 0.0
    began: float = 0.0
    ended: str = ""
    why: str = ""
    over: bool = False
    unread: int = 0
    trouble: Unknown | None = None
    judged: Judged | None = None
    numbers: Mapping[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[LoadedPart, ...]:
        """The GPUs in the order of their index, then the host."""
        return (*(self.gpus[index] for index in sorted(self.gpus, key=natural)), self.host)

    @property
    def seed(self) -> int | None:
        """The seed of the node's work; None if the node has not reported it."""
        found = self.hello.get("seed")
        return found if isinstance(found, int) and not isinstance(found, bool) else None


@dataclass
class Burns:
    """The state of a burn-in on all nodes of a run; its truth value is false if the run has no burn-in."""

    benches: dict[str, LoadedNode] = field(default_factory=dict, repr=False)
    nodes: tuple[str, ...] = ()
    done: RunDone | None = None
    tier: Tier | None = None
    simulated: bool = False
    plan: tuple[StageSlot, ...] = ()
    _totals: dict[int, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.benches)

    @property
    def running(self) -> bool:
        """Whether at least one node is known to be under load."""
        return self.done is None and any(not bench.over for bench in self.benches.values())

    def take(self, event: Event) -> None:
        """Update the state with the next event of a run."""
        match event:
            case RunStarted(nodes=nodes):
                self.nodes = nodes
            case NodeRequested(node, Plane.BURNIN):
                self._bench(node)
            case Burning(node, records):
                self._read(self._bench(node), Burn.of(records))
            case Answered(node, Plane.BURNIN):
                bench = self._bench(node)
                bench.over, bench.trouble = True, event.trouble
            case FactsRead(node, tree) if node in self.benches:
                names = (f"gpu/{spell_key(key)}" for key in tree.keys("gpu"))
                self.benches[node].numbers = {name: number for name in names if (number := tree.numbered(name))}
            case Judged() if event.node in self.benches:
                self.benches[event.node].judged = event
            case RunDone():
                self.done = event

    def gpus(self) -> Iterator[LoadedPart]:
        """Yield all GPUs of all nodes."""
        for bench in self.benches.values():
            yield from bench.gpus.values()

    @property
    def t(self) -> float:
        """The time (s) from the start of the first node to the latest record of any node."""
        return max((bench.began + bench.t for bench in self.benches.values()), default=0.0)

    @property
    def length(self) -> float | None:
        """The estimated duration (s), from the start of the first node to the end of the last that has started.

        The duration is None until a node reports the tier of the burn-in.
        """
        if self.tier is None:
            return None
        gpus = max((len(bench.gpus) for bench in self.benches.values()), default=0)
        last = max([*starts(self.nodes).values(), *(bench.began for bench in self.benches.values())], default=0.0)
        return self.tier.seconds + last + STEP * max(gpus - 1, 0) + 1.0

    @property
    def power(self) -> float | None:
        """The total power draw of all GPUs (W): the current value during the load, the highest value after the load.

        The power draw is None if no GPU reports power.
        """
        now = [part.now["power"] for part in self.gpus() if "power" in part.now]
        if not now:
            return None
        return sum(now) if self.running else max((watts for _, watts in self.total()), default=sum(now))

    @property
    def hottest(self) -> LoadedPart | None:
        """The GPU with the highest temperature so far, or the warmest host if no GPU reports a temperature.

        The result is None if neither a GPU nor a host reports a temperature.
        """
        hosts = (bench.host for bench in self.benches.values())
        rows = [p for p in self.gpus() if p.hottest is not None] or [p for p in hosts if p.hottest is not None]
        return max(rows, key=lambda part: part.hottest or 0.0, default=None)

    @property
    def wrong(self) -> int:
        """The number of faults that all nodes have reported."""
        return sum(part.wrong for bench in self.benches.values() for part in bench.parts)

    def total(self) -> list[tuple[float, float]]:
        """Return the start of each interval (s), and the total power draw of all GPUs in this interval (W).

        The last value of a GPU in an interval is added as soon as the GPU reports a value of a later interval.
        """
        return [(float(second), watts) for second, watts in sorted(self._totals.items())]

    def replay(self, node: str) -> str:
        """Return the command that repeats the same work on a node; empty if the node reported no seed."""
        seed = self.benches[node].seed
        tier = ["--tier", self.tier.value] if self.tier is not None else []
        return shlex.join(["rackcheck", "burnin", node, *tier, "--seed", str(seed)]) if seed is not None else ""

    def _bench(self, node: str) -> LoadedNode:
        if node not in self.benches:
            self.benches[node] = LoadedNode(node, LoadedPart(node, HOST))
        return self.benches[node]

    def _read(self, bench: LoadedNode, burn: Burn) -> None:
        self._greet(bench, burn)
        for of, items in burn.samples.items():
            if rows := tuple(row for row in items if 0 <= row.t < LATEST):
                self._sample(bench, of, rows)
        for stage in burn.stages:
            if 0 <= stage.t < LATEST:
                _part(bench, stage.of).did(stage, self.plan)
                bench.t = max(bench.t, stage.t)
        for fault in burn.faults:
            _part(bench, fault.of).blame(fault)
        bench.unread += burn.unread
        if burn.ended:
            bench.ended, bench.why = burn.ended, burn.why

    def _greet(self, bench: LoadedNode, burn: Burn) -> None:
        if not burn.hello:
            return
        values = burn.hello
        began = values.get("began")
        if isinstance(began, int | float) and not isinstance(began, bool) and 0 <= began < LATEST:
            bench.began = float(began)
        bench.hello |= {key: value for key, value in values.items() if key not in {"gpus", "k", "t", "of", "began"}}
        self.simulated = self.simulated or values.get("simulated") is True
        if self.tier is None and values.get("tier") in list(Tier):
            self.tier = Tier(values["tier"])
            self.plan = tuple(slots(self.tier))
        for index, about in burn.gpus.items():
            _part(bench, f"gpu/{index}").about |= about
        bench.host.about |= {key: values[key] for key in ("cpu", "variant", "memory", "cpus") if key in values}

    def _sample(self, bench: LoadedNode, of: str, rows: tuple[Record, ...]) -> None:
        bench.t = max(bench.t, rows[-1].t)
        if of == "bmc":
            for row in rows:
                sane = {name: value for name, value in row.numbers.items() if abs(value) < WILD}
                bench.bmc.add(row.t, sane)
                bench.air.update(sane)
            return
        if of != "node" and not of.startswith("gpu/"):
            return
        part = _part(bench, of)
        for row in rows:
            part.sample(row)
            watts = row.number("power")
            if watts is not None and watts < WILD and part.of != HOST:
                self._add(part, bench.began + row.t, watts)

    def _add(self, part: LoadedPart, t: float, watts: float) -> None:
        """When a GPU reports a later interval, add the GPU's last power draw to the total of its previous interval."""
        width = 2 if self.tier is Tier.SOAK else 1
        second, last = part.moment
        now = int(t) // width * width
        if second >= 0 and now > second and (second in self._totals or len(self._totals) < POINTS):
            self._totals[second] = self._totals.get(second, 0.0) + last
        part.moment = now, watts


def _part(bench: LoadedNode, of: str) -> LoadedPart:
    """Return the part that a record belongs to; a copy between two GPUs belongs to the first GPU."""
    kind, _, key = of.partition("/")
    if kind not in {"gpu", "peer"} or not key:
        return bench.host
    index = clean(key.partition("-")[0] if kind == "peer" else key, 20)
    if index not in bench.gpus:
        if len(bench.gpus) >= GPUS:
            return bench.host
        bench.gpus[index] = LoadedPart(bench.node, f"gpu/{index}")
    return bench.gpus[index]
