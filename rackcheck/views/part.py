"""The state of one GPU or host under load: its current values, their history, its work, and its faults. Pure.

Numbers are in SI units, times in seconds on the node's own clock.
"""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

from rackcheck.model.burn_record import Fault, Record, Stage
from rackcheck.parse.burnin.plan import StageSlot

POINTS = 600
"""Maximum number of points of a history.

When a history is full, every second point is dropped and the interval doubles.
"""

FAULTS = 64
"""Maximum number of faults kept for one part; all of them are counted."""

WORKS = 256
"""Maximum number of kinds of work of one part; the newest work of each kind is kept."""

UNITS = frozenset({"B", "FLOP", "OP"})
"""Units of work whose rate measures a part's speed."""

TELLING = {"gpu": ("tensor", "mma"), "host": ("triad", "triad")}
"""The stage and the test whose rate is shown after the load, for a GPU and for a host."""

HOST = "host"
"""The part for everything except GPUs: processors, memory, ports, disks, and the node itself."""

WILD = 1e12
"""The limit above which a power draw, a temperature or a clock is not plausible."""

COLUMNS = ("power", "temp", "memory_temp", "clock", "inlet")
"""The columns of samples that a history contains."""


class History:
    """Values over time by column; when there are too many, every second value is dropped.

    Missing values are left out when a column is read.
    """

    __slots__ = ("_columns", "_every", "_number", "_times")

    def __init__(self) -> None:
        self._times = array("f")
        self._columns: dict[str, array[float]] = {}
        self._every, self._number = 1, 0

    def add(self, t: float, values: Mapping[str, float]) -> None:
        """Add the values of a sample at a time `t` (s)."""
        self._number += 1
        if self._number % self._every:
            return
        for name in COLUMNS:
            if name in values and name not in self._columns:
                self._columns[name] = array("f", [nan]) * len(self._times)
        self._times.append(t)
        for name, column in self._columns.items():
            column.append(values.get(name, nan))
        if len(self._times) >= POINTS:
            self._times = self._times[1::2]
            self._columns = {name: column[1::2] for name, column in self._columns.items()}
            self._every *= 2

    def column(self, name: str) -> list[tuple[float, float]]:
        """Return the points of a column, each with its time."""
        found = self._columns.get(name)
        return [] if found is None else [p for p in zip(self._times, found, strict=True) if not isnan(p[1])]

    def __len__(self) -> int:
        return len(self._times)


@dataclass(slots=True)
class LoadedPart:
    """A GPU under load, or the host.

    `about` contains values that the node reported about the part, `now` the newest value of each column. `loaded`
    contains the highest power draw and the newest clock under load, which are kept after the load ends. `works`
    contains the newest work by stage, test and part, `work` the newest work whose rate measures speed, and `untested`
    the first work that was not tested. `faults` contains the faults, and `wrong` is the number of faults. `t` is the
    time of the last record, and `base` the time when the load began. `moment` contains the start of the last interval
    and the newest power draw (W) in this interval.
    """

    node: str
    of: str
    about: dict[str, Any] = field(default_factory=dict)
    now: dict[str, float] = field(default_factory=dict)
    past: History = field(default_factory=History)
    works: dict[tuple[str, str, str], Stage] = field(default_factory=dict)
    work: Stage | None = None
    untested: Stage | None = None
    faults: list[Fault] = field(default_factory=list)
    wrong: int = 0
    hottest: float | None = None
    loaded: dict[str, float] = field(default_factory=dict)
    t: float = 0.0
    base: float | None = None
    moment: tuple[int, float] = (-1, 0.0)

    @property
    def kind(self) -> str:
        """The kind of the part in the burn-in plan."""
        return "cpu" if self.of == HOST else "gpu"

    @property
    def limit(self) -> float | None:
        """The current power limit (W); None if the node reported no limit."""
        found = self.about.get("limit")
        return float(found) if isinstance(found, int | float) and found > 0 else None

    def sample(self, row: Record) -> None:
        """Update the current values, the history and the highest values with a sample."""
        sane = {name: value for name, value in row.numbers.items() if abs(value) < WILD}
        self.past.add(row.t, sane)
        self.now.update(sane)
        self.t = max(self.t, row.t)
        temp, watts, clock = (sane.get(name) for name in ("temp", "power", "clock"))
        if temp is not None and (self.hottest is None or temp > self.hottest):
            self.hottest = temp
        if clock is not None and (sane.get("busy") or self.of == HOST):
            self.loaded["clock"] = clock
        if watts is not None:
            self.loaded["power"] = max(watts, self.loaded.get("power", 0.0))

    def blame(self, fault: Fault) -> None:
        """Count a fault, and keep it unless `FAULTS` faults are kept already."""
        self.wrong += int(fault.number("more") or 1)
        if len(self.faults) < FAULTS:
            self.faults.append(fault)

    def did(self, stage: Stage, plan: Sequence[StageSlot]) -> None:
        """Add a record about work on the part: either the work was done, or it was not tested."""
        # A host has a piece of work for each processor; only the newest is shown.
        key = stage.stage, stage.test, stage.of if self.of != HOST or not stage.done else ""
        # The rate of all NUMA nodes together is shown, not that of each.
        is_share = (
            self.of == HOST and stage.done and (stage.stage, stage.test) == TELLING["host"] and stage.of != "node"
        )
        if not is_share and (key in self.works or len(self.works) < WORKS):
            self.works[key] = stage
        if not stage.done:
            self.untested = self.untested or stage
        measures = not is_share and (self.work is None or stage.word("unit") in UNITS)
        if stage.number("rate") is not None and stage.done and measures:
            self.work = stage
        begin = stage.number("from")
        if self.base is None and begin is not None:
            slot = next((slot for slot in plan if slot.of == self.kind and slot.stage == stage.stage), None)
            self.base = begin - slot.begin if slot is not None else None
        self.t = max(self.t, stage.t)

    def shown(self, column: str, *, over: bool) -> float | None:
        """Return the value to show: the newest value during the load, and the highest or last value after the load."""
        if not over:
            return self.now.get(column)
        return self.hottest if column == "temp" else self.loaded.get(column, self.now.get(column))

    def main_work(self, *, over: bool) -> Stage | None:
        """Return the newest work; after the load, prefer the work of the test in `TELLING`."""
        kind, of = (HOST, "") if self.of == HOST else ("gpu", self.of)
        found = self.works.get((*TELLING[kind], of)) if over else None
        return found if found is not None and found.done and found.number("rate") is not None else self.work

    def under_way(self, plan: Sequence[StageSlot]) -> str:
        """Return the current stage of the part according to the plan.

        The result is empty before the first stage and after the last stage.
        """
        mine = [slot for slot in plan if slot.of == self.kind]
        if self.base is None:
            return mine[0].stage if mine and self.now.get("busy") else ""
        at = self.t - self.base
        return next((slot.stage for slot in mine if slot.begin <= at < slot.until), "")
