"""Simulates the processors and the memory of a node under load: samples, and the records of burn-in stages. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from rackcheck.sim.behaviour import Ill
from rackcheck.sim.burn_parts import LoadableParts
from rackcheck.sim.load_wrong import stand_in

CpuRecord = dict[str, Any]
CpuSlot = tuple[str, float, float]

CLOCK = 2.0e9
"""Clock, in Hz, of a processor if the capture has none."""

CYCLE = {"avx512": 16, "avx2": 8, "neon": 4}
"""FLOP per cycle of a logical processor while the other logical processor of its core also works."""

AMX_CYCLE = {"bf16": 512, "int8": 1024}
"""Operations per cycle of the matrix unit that each of a core's two logical processors gets, by type of operand."""

REACHED = 0.96
SEALED, NODE_MEMORY, PATTERNS, COVERED = 1.4e9, 2.2e11, 1.0e10, 0.45
"""Rates (B/s) of encryption by a core, memory of a NUMA node, memory test by a core; tested fraction of memory."""


@dataclass
class Cpus:
    """The processors of a node: `slots` are (stage, start, end) in seconds, `end` is when the node's work ends."""

    parts: LoadableParts
    ills: tuple[Ill, ...]
    slots: Sequence[CpuSlot]
    seed: int
    rng: Random
    end: float

    def records(self) -> Iterator[CpuRecord]:
        """Yield all records in order of time."""
        return iter(sorted(self._records(), key=lambda record: float(record["t"])))

    def _records(self) -> Iterator[CpuRecord]:
        t = 0.5
        for slot in self.slots:
            while t < slot[2]:
                yield self._sample(t)
                t += 1.0
            yield from self._stage(slot) if self.parts.cpus else [self._undone(slot, "unsupported: no processors")]
        yield self._sample(self.end)

    def _sample(self, t: float) -> CpuRecord:
        busy = bool(self.slots) and self.slots[0][1] <= t < self.slots[-1][2]
        temp = 72 if busy else 45
        clock = (self.parts.clock or CLOCK) * (1.3 if busy else 1.0)
        load = float(len(self.parts.cpus)) if busy else self.parts.load
        values = {"temp": temp, "clock": round(clock), "load": load} if self.parts.cpus else {"load": load}
        counted = {"mce": 0, "edac_corrected": 0, "edac_uncorrected": 0, "throttles": 0}
        return {"k": "sample", "t": round(t, 3), "of": "node", **values, **counted}

    def _stage(self, slot: CpuSlot) -> Iterator[CpuRecord]:
        stage, _, until = slot
        if self.parts.variant not in CYCLE and stage not in ("fingerprint", "crypto"):
            yield self._undone(slot, f"unsupported: {self.parts.variant} kernels")
            return
        if stage == "triad":
            yield self._done(slot, "node", "triad", NODE_MEMORY * len(self.parts.numa), 0)
            for node, cpus in self.parts.numa.items() if len(self.parts.numa) > 1 else ():
                rate = NODE_MEMORY * (1 + self.rng.gauss(0, 0.005))
                yield self._done(slot, f"numa/{node}", "triad", rate, 0, threads=len(cpus))
        elif stage == "ram":
            for node in self.parts.numa:
                yield from self._ram(slot, node)
        else:
            wrong = {ill.of for ill in self.ills if ill.kind == "cpu-wrong"}
            for cpu in self.parts.cpus:
                of = f"cpu/{cpu}"
                bad = of in wrong and stage != "fma"
                if bad:
                    yield self._disagrees(until, of, stage)
                matrix = stage == "fma" and bool(self.parts.amx)
                own = (stage, slot[1], until - (until - slot[1]) / 3) if matrix else slot
                yield from self._core(own, of, 1 if bad else 0)
                if matrix:
                    yield from self._amx(slot, of)

    def _core(self, slot: CpuSlot, of: str, wrong: int) -> Iterator[CpuRecord]:
        stage = slot[0]
        cycle, clock = CYCLE.get(self.parts.variant, 2), (self.parts.clock or CLOCK) * 1.3
        rate = cycle * clock * REACHED * (1 + self.rng.gauss(0, 0.003))
        values: CpuRecord = {"hash": stand_in(stage, self.seed, of if wrong else ""), "seed": self.seed}
        if stage == "fingerprint":
            first: CpuRecord = {"hash": stand_in("golden", of if wrong else ""), "seed": 1}
            yield self._done(slot, of, "golden", rate, wrong, unit="FLOP", seconds=0.002, **first)
            yield self._done(slot, of, "verify", rate, wrong, unit="FLOP", **values)
        elif stage == "crypto":
            yield self._done(slot, of, "ring", SEALED, wrong, rounds=900, **values)
        else:
            yield self._done(
                slot, of, "fma", rate, 0, unit="FLOP", core="2 threads", clock=clock, roof=clock * cycle, **values
            )

    def _amx(self, slot: CpuSlot, of: str) -> Iterator[CpuRecord]:
        """Yield the work of the stage `amx`, in the last third of a slot of the stage `fma`."""
        clock, at, third = (self.parts.clock or CLOCK) * 1.3, slot[2] - (slot[2] - slot[1]) / 3, (slot[2] - slot[1]) / 3
        for number, kind in enumerate(self.parts.amx):
            begin = at + third * number / len(self.parts.amx)
            part = ("amx", begin, begin + third / len(self.parts.amx))
            rate = AMX_CYCLE[kind] * clock * 0.8 * (1 + self.rng.gauss(0, 0.003))
            words: CpuRecord = {"hash": stand_in("amx", kind, self.seed), "seed": self.seed, "clock": clock}
            unit = "OP" if kind == "int8" else "FLOP"
            yield self._done(part, of, kind, rate, 0, unit=unit, roof=2 * AMX_CYCLE[kind] * clock, **words)

    def _ram(self, slot: CpuSlot, node: str) -> Iterator[CpuRecord]:
        of, cpus = f"numa/{node}", self.parts.numa[node]
        found = [ill for ill in self.ills if ill.kind == "ram-bitflip" and ill.of == of]
        for ill in found:
            address, bit = int(ill.words["address"], 16) // 8 * 8, int(ill.number("bit"))
            want = int(stand_in("ram", address, self.seed), 16)
            yield {
                "k": "error", "t": round(slot[2], 3), "of": of, "stage": "ram", "name": "mismatch", "bits": 1,
                "address": hex(address), "want": f"{want:016x}", "got": f"{want ^ 1 << bit:016x}", "seed": self.seed,
                "cpu": cpus[0], "pattern": "filled",
            }  # fmt: skip
        memory = self.parts.memory / max(1, len(self.parts.numa))
        more: CpuRecord = {"coverage": COVERED, "tested": int(memory * COVERED), "seeds": 3, "seed": self.seed}
        yield self._done(slot, of, "march", PATTERNS * len(cpus), len(found), **more)

    def _disagrees(self, t: float, of: str, stage: str) -> CpuRecord:
        words = {"hash": stand_in(stage, self.seed, of), "theirs": stand_in(stage, self.seed, ""), "seed": self.seed}
        return {"k": "error", "t": round(t, 3), "of": of, "stage": stage, "name": "disagree", "blame": True, **words}

    def _done(
        self, slot: CpuSlot, of: str, test: str, rate: float, mismatches: int, *, unit: str = "B", seconds: float = 0.0,
        **more: Any,
    ) -> CpuRecord:  # fmt: skip
        stage, begin, until = slot
        worked = seconds or (until - begin) * 0.97
        work = round(rate * worked)
        return {
            "k": "stage", "t": round(until, 3), "of": of, "stage": stage, "test": test, "from": round(begin, 3),
            "status": "done", "unit": unit, "work": work, "seconds": worked, "rate": work / worked,
            "core_seconds": worked, "share": 0.99, "mismatches": mismatches, **more,
        }  # fmt: skip

    def _undone(self, slot: CpuSlot, why: str) -> CpuRecord:
        stage, begin, until = slot
        return {
            "k": "stage", "t": round(until, 3), "of": "node", "stage": stage, "test": "", "from": round(begin, 3),
            "status": "not tested", "why": why,
        }  # fmt: skip
