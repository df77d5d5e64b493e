# ruff: noqa: UP031  this runs on the node, where Python may be 3.6
"""The CPU's part of the burn, on the node: finds the processors, runs the stages on them, writes what they did.

Every rate is of pure work: the kernels measure themselves. A stage that did not get its cores has no rate. What a
verification found stays found.
"""

import errno
import os
import platform
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cpu_answers import cpu_crypto, cpu_fingerprint
    from rackcheck.burnin.node.cpu_facts import cpu_memory, cpu_model, cpu_nodes
    from rackcheck.burnin.node.cpu_kernels import CpuKernels, CpuTold
    from rackcheck.burnin.node.cpu_ram import cpu_ram
    from rackcheck.burnin.node.cpu_rates import cpu_fma, cpu_triad
    from rackcheck.burnin.node.cpu_stdlib import CpuStdlib

CPU_PIECE = 0.04
"""Seconds that one call into a kernel may take."""
CPU_OBTAINED = 0.9
"""Core-seconds a second below which a core was not ours."""
CPU_AGAIN, CPU_ROUND, CPU_COOL = 3, 0.5, 8.0
"""How often what went wrong is done again, hot and then cold; seconds of each time, and until it is cold."""
CPU_FULL = (1 << 64) - 1

CpuTimes = Dict[str, float]
"""wall and cpu (s), work, found: sums over calls."""


class Cpu:
    """The processors of this node under load. `tell`, `clock` and `stop` as every part of the payload has them.

    `skew` (seed added on a CPU) and `spoil` (called with address and size of memory, after it was filled
    or a message sealed, before it is read) make faults, so that tests may see them found.
    """

    def __init__(
        self,
        tell: Callable[..., None],
        clock: Callable[[], float],
        stop: threading.Event,
        library: Optional[bytes],
        seed: int,
        variant: Optional[str] = None,
        skew: Optional[Dict[int, int]] = None,
        spoil: Optional[Callable[[int, int], None]] = None,
        cool: float = CPU_COOL,
    ) -> None:
        self.tell, self.clock, self.stop, self.seed = tell, clock, stop, seed
        self.skew, self.spoil, self.cool = skew or {}, spoil, cool
        self.cpus = sorted(os.sched_getaffinity(0))
        self.troubles: List[Dict[str, str]] = []
        self._lock = threading.Lock()
        self._faults: Counter[Tuple[str, str, str]] = Counter()
        self.nodes = cpu_nodes(self.cpus)
        self.kernels: Any = CpuStdlib()
        try:
            if library is not None:
                self.kernels = CpuKernels(library, variant)
            why = "no library for %s" % platform.machine()
        except (OSError, AttributeError) as error:
            why = str(error)
        if self.kernels.variant == "stdlib":
            self.troubles.append({"of": "cpu", "why": "stdlib kernels alone: %s" % why})

    def hello(self) -> Dict[str, Any]:
        """Give what the payload's first line says of the processors: memory in B, load of the last minute."""
        return {
            "cpus": self.cpus,
            "cpu": cpu_model(),
            "variant": self.kernels.variant,
            "numa": self.nodes,
            "memory": cpu_memory("MemTotal"),
            "load": os.getloadavg()[0],
            "troubles": self.troubles,
        }

    def run(self, stages: List[Dict[str, Any]]) -> None:
        """Run the stages one after the other, each from its `from` to its `until`; return when done or stopped."""
        works = {"fingerprint": cpu_fingerprint, "crypto": cpu_crypto}
        if self.kernels.variant != "stdlib":
            works.update(fma=cpu_fma, triad=cpu_triad, ram=cpu_ram)
        for stage in sorted(stages, key=lambda one: float(one["from"])):
            self.stop.wait(max(0.0, stage["from"] - self.clock()))
            if self.stop.is_set():
                self.undone("node", stage["stage"], "stopped")
            elif stage["stage"] not in works:
                self.undone("node", stage["stage"], "unsupported: %s kernels" % self.kernels.variant)
            elif self.clock() >= stage["until"]:
                self.undone("node", stage["stage"], "stopped: its time was over before it began")
            else:
                works[stage["stage"]](self, stage)
        self._again(works)
        for (of, at, name), count in sorted(self._faults.items()):
            if count > 64:
                self.tell("error", of=of, stage=at, name=name, more=count - 64)

    def _again(self, works: Mapping[str, Callable[["Cpu", Dict[str, Any]], None]]) -> None:
        """Do stages with wrong results again while it is hot, and once it has cooled; who errs is counted, not told."""
        known, loud = self._faults, self.tell
        suspects = sorted({(at, of) for of, at, _ in known if at in works})
        for heat, wait in (("hot", 0.0), ("cold", self.cool if suspects else 0.0)):
            self.stop.wait(wait)
            for name in sorted({at for at, _ in suspects}):
                begun, wrong = self.clock(), Counter()  # type: Tuple[float, Counter[str]]
                for _ in range(CPU_AGAIN):
                    if self.stop.is_set():
                        return
                    self._faults, self.tell = Counter(), lambda *_, **__: None
                    now = self.clock()
                    works[name](self, {"of": "cpu", "stage": name, "from": now, "until": now + CPU_ROUND, "seeds": 1})
                    wrong.update({of for of, _, _ in self._faults})
                    self._faults, self.tell = known, loud
                for of in (of for at, of in suspects if at == name):
                    fields = {"from": round(begun, 3), "rounds": CPU_AGAIN, "found": wrong[of], "seed": self.seed}
                    self.tell("stage", of=of, stage="again", test="%s %s" % (name, heat), status="done", **fields)

    def ends(self, until: float) -> bool:
        """Whether a stage must end."""
        return self.stop.is_set() or self.clock() >= until

    def left(self, until: float) -> float:
        """Give the seconds that the next call into a kernel may take."""
        return max(0.0, min(CPU_PIECE, until - self.clock()))

    def undone(self, of: str, stage: str, why: str, **fields: Any) -> None:
        """Tell that something was not tested."""
        self.tell("stage", of=of, stage=stage, status="not tested", why=why, **fields)

    def fault(self, of: str, stage: str, name: str, **fields: Any) -> None:
        """Tell a finding, at most 64 of one name and thing; the rest is counted."""
        with self._lock:
            self._faults[of, stage, name] += 1
            known = self._faults[of, stage, name] <= 64
        if known:
            self.tell("error", of=of, stage=stage, name=name, **fields)

    def together(self, stage: str, work: Callable[[int], Any]) -> Dict[int, Any]:
        """Run `work` on a thread pinned to each CPU; one that could not be run there is told and left out."""
        results: Dict[int, Any] = {}

        def pinned(cpu: int) -> None:
            try:
                os.sched_setaffinity(0, {cpu})
                results[cpu] = work(cpu)
            except Exception as error:  # noqa: BLE001  whatever happened to this core, the others go on
                none = isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM
                why = "no memory" if none else "lost"
                self.undone("cpu/%d" % cpu, stage, "%s: %s: %s" % (why, type(error).__name__, error))

        threads = [threading.Thread(target=pinned, args=(cpu,), daemon=True) for cpu in self.cpus]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    def times(self) -> CpuTimes:
        """Give the sums of a worker that begins now."""
        return {"from": self.clock(), "wall": 0.0, "cpu": 0.0, "work": 0, "found": 0, "rounds": 0, "covered": 0}

    def done(self, stage: Dict[str, Any], of: str, test: str, times: CpuTimes, rated: bool, **fields: Any) -> None:
        """Tell a finished piece, with a rate if its cores were its own; not tested if the rate is all it is for."""
        share = times["cpu"] / times["wall"] if times["wall"] else 0.0
        values = dict(fields, of=of, stage=stage["stage"], test=test, work=int(times["work"]))
        seconds = times.get("seconds") or times["cpu"]
        values.update({"from": times["from"], "seconds": seconds, "core_seconds": times["cpu"], "share": share})
        if share >= CPU_OBTAINED:
            self.tell("stage", status="done", rate=times["work"] / seconds, **values)
        elif rated:
            self.tell("stage", status="not tested", why="contended: %.2f of a core" % share, **values)
        else:
            self.tell("stage", status="done", **values)


def cpu_sum(times: CpuTimes, value: "CpuTold") -> None:
    """Add one call to a sum."""
    times["wall"] += value.wall / 1e9
    times["cpu"] += value.cpu / 1e9
    times["work"] += value.work
    times["found"] += value.found
