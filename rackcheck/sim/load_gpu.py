"""Simulates one GPU under load: samples over time, and the records of burn-in stages. Pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from rackcheck.sim.behaviour import Ill
from rackcheck.sim.burn_parts import GpuParts
from rackcheck.sim.load_heat import Chip, Heat
from rackcheck.sim.load_rates import of_kind, tests, to_peer
from rackcheck.sim.load_wrong import WrongResult, wrongs

GpuRecord = dict[str, Any]
GpuStage = tuple[str, float, float]

THERMAL = 0x20
"""NVML's throttle reason for a thermal slowdown by software."""
HOT_BELOW = 2.0
"""Degrees below the slowdown temperature at which the load of a GPU ends and a slowdown is reported."""
NO_ANSWER = 5.0
"""Seconds after which a launch counts as hanging."""


@dataclass
class SimGpu:
    """A GPU under load: `slots` are (stage, start, end) in seconds, `peers` are the faults of the other GPUs by index.

    `base` is the start of the GPU's load, and `end` the end of the node's work, in seconds on the node's clock.
    """

    parts: GpuParts
    chip: Chip
    ills: tuple[Ill, ...]
    slots: Sequence[GpuStage]
    peers: Mapping[str, tuple[Ill, ...]]
    seed: int
    base: float
    end: float
    period: float
    rng: Random
    heat: Heat = field(init=False)
    t: float = 0.0
    number: int = 0
    _counted: float = -math.inf
    _over: bool = False
    _lost: bool = False
    _xids: int = 0
    _clocks: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.of = f"gpu/{self.parts.index}"
        self.heat = Heat(self.parts, self.chip, self.ills, self.base)

    def about(self) -> GpuRecord:
        """Return the GPU's entry in the record `about`."""
        known = "limit" in self.parts.about
        return {**self.parts.about, **({"limit": self.heat.limit} if known else {})}

    def records(self) -> Iterator[GpuRecord]:
        """Yield all records in order of time."""
        yield from self._until(self.base, "")
        refused = of_kind(self.ills, "fabric-manager-down")
        if refused:
            message = "cuInit: code 802, CUDA_ERROR_SYSTEM_NOT_READY, system not yet initialized"
            yield self._error("", "cuda", code=802, said=message)
            yield from self._untested(self.slots, f"fabric manager down: {message}")
        for place, (stage, begin, until) in enumerate(self.slots if not refused else ()):
            yield from self._until(begin, "")
            self._clocks.clear()
            broken = self._breaks(begin, until)
            yield from self._until(broken[0] if broken else until, stage)
            if broken:
                yield from self._broken(*broken[1:], stage)
            if self._over or broken:
                why = broken[3] if broken else "stopped"
                yield from self._tests(stage, begin, why)
                yield from self._untested(self.slots[place:], why)
                break
            yield from self._tests(stage, begin)
        self._over = True
        yield from self._until(self.end, "", last=True)

    # ---- time ----------------------------------------------------------------------------------------------------

    def _until(self, until: float, stage: str, last: bool = False) -> Iterator[GpuRecord]:
        """Advance the time to `until`, and yield one sample per period; `stage` is empty if no stage is running."""
        while self.number * self.period < until and not (stage and self._over):
            yield from self._sample(self.number * self.period, stage)
            self.number += 1
        if not (stage and self._over):
            self._pass(until, stage)
        if last:
            yield from self._sample(self.end, stage, last=True)

    def _pass(self, t: float, stage: str) -> None:
        self.heat.go_on(t, stage)
        self.t = max(t, self.t)

    def _sample(self, t: float, stage: str, last: bool = False) -> Iterator[GpuRecord]:
        if self._lost:
            return
        self._pass(t, stage)
        clock, _, reasons = self.heat.drawn(stage)
        limit = None if self.parts.slowdown is None else self.parts.slowdown - HOT_BELOW
        hot = bool(stage) and limit is not None and self.heat.temp >= limit
        if stage:
            self._clocks.append(clock)
        power, temp = self.heat.power * (1 + self.rng.gauss(0, 0.002)), self.heat.temp
        row = {
            "k": "sample", "t": round(t, 3), "of": self.of, "clock": round(clock), "power": round(power, 3),
            "energy": round(self.heat.energy, 3), "temp": round(temp), "memory_temp": round(temp + 6),
            "reasons": reasons | (THERMAL if hot else 0), "busy": 1.0 if stage else 0.0, "pstate": 0,
        }  # fmt: skip
        if self.parts.slowdown is not None:
            row["below"] = self.parts.slowdown - round(temp)
        memory = self.parts.about.get("memory_clock_max")
        if memory is not None:
            row["memory_clock"] = memory
        if last or t - self._counted >= 1.0:
            self._counted = t
            row |= self._counters(t)
        yield row
        if hot:
            self._over = True
            yield self._error("", "throttle", reasons=THERMAL)
            yield self._error("", "hot", temp=round(self.heat.temp), limit=limit)
        xid = of_kind(self.ills, "xid-only")
        if xid and not self._xids and t - self.base >= xid.number("second"):
            self._xids = 1
            place = str(self.parts.about.get("pci", "")).rpartition(".")[0]
            line = f"NVRM: Xid (PCI:{place}): {xid.words['number']}, pid='<unknown>'"
            yield self._error("", "xid", xid=int(xid.number("number")), line=line)

    def _counters(self, t: float) -> GpuRecord:
        replays, value = of_kind(self.ills, "replay-storm"), {}
        for name, key in (("gen", "link_gen_max"), ("width", "link_width_max")):
            if key in self.parts.about:
                value[name] = self.parts.about[key]
        if self.parts.lanes:
            value["width"] = self.parts.lanes
        narrow = of_kind(self.ills, "link-narrow-under-load")
        if narrow and self.base <= t and not self._over:
            value["width"] = int(narrow.number("lanes"))
        return {
            "ecc_corrected": 0, "ecc_uncorrected": 0, "remap_pending": 0, "remap_failed": 0, "nvlink_errors": 0,
            "xids": self._xids,
            "replays": int(max(0.0, t - self.base) * replays.number("rate")) if replays else 0, **value,
        }  # fmt: skip

    # ---- records -------------------------------------------------------------------------------------------------

    def _breaks(self, begin: float, until: float) -> tuple[float, str, GpuRecord, str] | None:
        """Return the time at which a stage fails, the error's name and values, and why later tests are not run.

        Return None if the stage does not fail.
        """
        for kind, name, wait in (
            ("gpu-lost-under-load", "lost", 0.0), ("gpu-hang", "hang", NO_ANSWER), ("cuda-sticky", "cuda", 0.0)
        ):  # fmt: skip
            ill = of_kind(self.ills, kind)
            at = self.base + ill.number("second") if ill else math.inf
            if begin <= at < until or (ill and at < begin):
                message = f"a launch on GPU {self.parts.index} did not complete within {NO_ANSWER:g} s"
                if name == "hang":
                    return max(at, begin) + wait, name, {"said": message}, f"hang: {message}"
                message = "NVML: GPU is lost"
                if name == "cuda":
                    message = "cuEventQuery: code 719, CUDA_ERROR_LAUNCH_FAILED, unspecified launch failure"
                more = {"code": 719} if name == "cuda" else {}
                return max(at, begin) + wait, name, {"said": message, **more}, f"lost: {message}"
        return None

    def _broken(self, name: str, words: GpuRecord, _why: str, stage: str) -> Iterator[GpuRecord]:
        self._lost = name == "lost"
        yield self._error(stage, name, **words)

    def _tests(self, stage: str, begin: float, why: str = "") -> Iterator[GpuRecord]:
        """Yield the results and the errors of each test of a stage; if `why` is set, the tests did not complete."""
        seed, again = self._seed(stage), any(s == stage and b < begin for s, b, _ in self.slots)
        found = [wrong for ill in self.ills for wrong in wrongs(ill, stage, seed, again)] if not why else []
        for wrong in found:
            yield self._error(stage, **{"test": wrong.test, **wrong.words})
        clock = sum(self._clocks) / len(self._clocks) if self._clocks else self.heat.drawn(stage)[0]
        for test, unit, rate, more in tests(self.parts, self.ills, stage, seed, clock, self.chip.work, self.rng):
            yield self._stage(self.of, stage, test, unit, rate, begin, why, _mismatches(test, found), more)
        if stage == "links":
            for peer, theirs in self.peers.items():
                of, (rate, direct) = f"peer/{self.parts.index}-{peer}", to_peer(self.parts, self.ills, theirs)
                more = {"seed": seed, "direct": direct}
                yield self._stage(of, stage, "copy", "B", rate, begin, why, 0, more)

    def _stage(
        self, of: str, stage: str, test: str, unit: str, rate: float, begin: float, why: str, mismatches: int | None,
        more: Mapping[str, Any],
    ) -> GpuRecord:  # fmt: skip
        seconds = round(max(0.001, self.t - begin) * 0.97 / (1 if stage in ("tensor", "links") else 4), 6)
        work = round(rate * seconds)
        state = {"status": "not tested", "why": why} if why else {"status": "done"}
        values = {"mismatches": mismatches} if mismatches is not None else {}
        return {
            "k": "stage", "t": round(self.t, 3), "of": of, "stage": stage, "test": test, "from": round(begin, 3),
            **state, "unit": unit, "work": work, "seconds": seconds, "rate": work / seconds, **values, **more,
        }  # fmt: skip

    def _untested(self, slots: Sequence[GpuStage], why: str) -> Iterator[GpuRecord]:
        for stage, _, _ in slots:
            yield {
                "k": "stage", "t": round(self.t, 3), "of": self.of, "stage": stage, "test": "", "status": "not tested",
                "why": why,
            }  # fmt: skip

    def _error(self, stage: str, name: str, **words: Any) -> GpuRecord:
        return {"k": "error", "t": round(self.t, 3), "of": self.of, "stage": stage, "name": name, **words}

    def _seed(self, stage: str) -> int:
        return (self.seed * 0x9E3779B97F4A7C15 + sum(stage.encode())) & (1 << 64) - 1


def _mismatches(test: str, found: Sequence[WrongResult]) -> int | None:
    """Return the number of mismatches of a test; None if the test does not verify results."""
    if test in {"fill", "copy", "rounds"}:
        return None
    return sum(wrong.count for wrong in found if wrong.test == test)
