"""Generates the records that a simulated node sends during a burn-in, in order of time. Pure.

The records are from a model, not from hardware: do not derive limits from them. Only parts in the capture of the node's
machine have records. The properties of a node's parts are the same in every run; the seed of the plan changes only the
measured values.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from rackcheck.sim.behaviour import Ill
from rackcheck.sim.burn_parts import LoadableParts, SimPort
from rackcheck.sim.load_cpu import Cpus
from rackcheck.sim.load_gpu import GpuRecord, SimGpu
from rackcheck.sim.load_heat import chip

READY = 0.6
"""Seconds until a node has sent its description and its GPUs are ready."""

LEAVES = 0.3
"""Seconds between the end of the work and the verdict."""

SILENT = 0.5
"""Seconds without a record after which a node sends a `beat` record."""


@dataclass(frozen=True)
class SimLoad:
    """A node during a burn-in: `number` is its rack position, `seed` a random seed for differences between its parts.

    `period` is the number of seconds between samples; `time` is the node's clock at the start, in seconds since 1970.
    """

    parts: LoadableParts
    plan: Mapping[str, Any]
    ills: tuple[Ill, ...] = ()
    number: int = 1
    seed: int = 0
    period: float = 0.1
    time: float = 0.0

    def records(self) -> Iterator[GpuRecord]:
        """Yield all records of a burn-in, from `hello` to `verdict`; `beat` records fill gaps between other records."""
        yield self._hello()
        last = 0.0
        for record in heapq.merge(*self._records(), key=lambda record: float(record["t"])):
            while record["t"] - last > SILENT:
                last = round(last + SILENT, 3)
                yield {"k": "beat", "t": last}
            last = record["t"]
            yield record
        for name in self.plan.get("tools", ()):
            # A simulated node has no tools, even if its machine has their versions: no tool would do any work.
            yield {
                "k": "tool", "t": self._ends(), "name": name, "of": "node", "argv": [], "version": None, "status": None,
                "seconds": 0.0, "out": "", "err": "", "why": "tool missing",
            }  # fmt: skip
        yield {"k": "verdict", "t": self._ends(), "status": "whole", "why": ""}

    def stopped(self, t: float, why: str) -> GpuRecord:
        """Return the last record of a burn-in that was stopped early."""
        return {"k": "verdict", "t": round(t, 3), "status": "stopped", "why": why}

    def _begins(self) -> float:
        return max(float(self.plan["start"]), READY)

    def _slots(self, of: str, late: float) -> list[tuple[str, float, float]]:
        return [
            (stage["stage"], stage["from"] + late, stage["until"] + late)
            for stage in self.plan["stages"]
            if stage["of"] == of
        ]

    def _ends(self) -> float:
        late = self._begins() + float(self.plan["step"]) * max(0, len(self.parts.gpus) - 1)
        last: float = max((float(stage["until"]) for stage in self.plan["stages"]), default=0.0)
        return round(last + late + LEAVES, 3)

    def _hello(self) -> GpuRecord:
        parts, plan = self.parts, self.plan
        return {
            "k": "hello", "t": 0.0, "wire": plan["wire"], "time": round(self.time, 3), "python": "3.10.12",
            "machine": parts.machine, "tier": plan["tier"], "seed": plan["seed"], "version": plan.get("version", ""),
            "simulated": True,
        }  # fmt: skip

    def _records(self) -> Iterator[Iterable[GpuRecord]]:
        gpus = list(self._gpus())
        troubles = [] if gpus else [{"of": "node", "why": "no driver: this machine reports no GPU"}]
        yield [self._about_cpus(), self._about_gpus(gpus, troubles)]
        slots = self._slots("cpu", self._begins())
        yield Cpus(self.parts, self.ills, slots, self.plan["seed"], self._rng("cpu"), self._ends()).records()
        for gpu in gpus:
            yield gpu.records()
        for port in self.parts.ports:
            yield self._port(port)

    def _rng(self, what: str) -> Random:
        return Random(f"{self.seed} {self.number} {self.plan['seed']} {what}")  # noqa: S311  a model, not a secret

    def _about_cpus(self) -> GpuRecord:
        parts = self.parts
        return {
            "k": "about", "t": 0.2, "cpus": list(parts.cpus), "cpu": parts.cpu, "variant": parts.variant,
            "amx": " ".join(parts.amx), "virtual": False,
            "numa": {node: list(cpus) for node, cpus in parts.numa.items()}, "memory": parts.memory, "load": parts.load,
            "troubles": [],
        }  # fmt: skip

    def _about_gpus(self, gpus: Sequence[SimGpu], troubles: Sequence[Mapping[str, str]]) -> GpuRecord:
        return {
            "k": "about", "t": 0.4, "gpus": {g.parts.index: g.about() for g in gpus}, "troubles": list(troubles),
            "accelerators": {},
        }  # fmt: skip

    def _gpus(self) -> Iterator[SimGpu]:
        ills = {
            gpu.index: tuple(ill for ill in self.ills if ill.of in (f"gpu/{gpu.index}", "node"))
            for gpu in self.parts.gpus
        }
        for place, parts in enumerate(self.parts.gpus):
            base = self._begins() + place * self.plan["step"]
            made = chip(self.seed, self.number, str(parts.about.get("pci", parts.index)))
            peers = {index: theirs for index, theirs in ills.items() if index != parts.index}
            yield SimGpu(
                parts, made, ills[parts.index], self._slots("gpu", base), peers, self.plan["seed"], base, self._ends(),
                self.period, self._rng(f"gpu/{parts.index}"),
            )  # fmt: skip

    def _port(self, port: SimPort) -> Iterator[GpuRecord]:
        """Sample a port every second; with the fault `nic-down-under-load`, the port goes down and stays down."""
        ill = next((i for i in self.ills if i.kind == "nic-down-under-load" and i.of == f"nic/{port.name}"), None)
        end = self._ends()
        for t in [float(second) for second in range(1, int(end))] + [end]:
            fell = ill is not None and port.up and t - self._begins() >= ill.number("second")
            rate = {} if port.rate is None else {"rate": port.rate}
            yield {
                "k": "sample", "t": t, "of": f"nic/{port.name}", "up": int(port.up and not fell), **rate,
                "symbol_error": 0, "link_downed": int(fell), "xmit_wait": 0,
            }  # fmt: skip
