# ruff: noqa: UP031  this runs on the node, where Python may be 3.6
"""The CPU's part of the burn-in, on the node: finds the processors, runs the stages on them, writes the results.

Each kernel measures its own time, so a rate does not include the time of the interpreter. A stage that shared its cores
with other work has no rate; its errors are reported all the same.
"""

import errno
import os
import platform
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cpu_amx import cpu_amx, cpu_amx_refused, cpu_amx_stages, cpu_amx_types
    from rackcheck.burnin.node.cpu_answers import cpu_crypto, cpu_fingerprint
    from rackcheck.burnin.node.cpu_facts import (
        cpu_far_nodes,
        cpu_kinds,
        cpu_list,
        cpu_memory,
        cpu_model,
        cpu_nodes,
        cpu_text,
        cpu_virtual,
    )
    from rackcheck.burnin.node.cpu_kernels import CpuKernels, CpuResult
    from rackcheck.burnin.node.cpu_quiet import CPU_HEAVY, CpuQuiet, CpuRecords
    from rackcheck.burnin.node.cpu_ram import cpu_ram
    from rackcheck.burnin.node.cpu_rates import cpu_fma, cpu_triad
    from rackcheck.burnin.node.cpu_stdlib import CpuStdlib

CPU_PIECE = 0.04
"""Maximum time, in seconds, of one call into a kernel."""
CPU_OBTAINED = 0.9
"""Minimum share of a core's time that a kernel must obtain; below it, other work used the core."""
CPU_SHARED = 0.3
"""As CPU_OBTAINED, for the stage `fma`: its kernel uses registers only, and its rate is per second of processor time.

A core that two busy threads of the GPUs' processes share with the kernel gives it a third. A choice.
"""
CPU_AGAIN, CPU_ROUND, CPU_COOL = 3, 0.5, 8.0
"""Number of runs of a failed stage while hot, and again after cooling; seconds of each run; seconds of cooling."""
CPU_FULL = (1 << 64) - 1

CpuTimes = Dict[str, float]
"""Sums over kernel calls, such as `wall` and `cpu` in seconds, `work` in the kernel's unit and `found` errors."""


class CpuFaults(NamedTuple):
    """Faults that tests inject, to check that they are found.

    `skew` maps a CPU to a number that is added to the seed on this CPU, and `harm` to a mask that is XORed into its
    first encrypted message, and into its first product of each type on AMX. `spoil` is called with the address and size
    of filled memory before it is read again.
    """

    skew: Mapping[int, int] = {}
    harm: Mapping[int, int] = {}
    spoil: Optional[Callable[[int, int], None]] = None


class Cpu:
    """The processors of this node under load.

    `emit` writes a record, `clock` returns the seconds since the burn-in began, and `stop` is the event that ends the
    load. A failed stage is repeated for `again` seconds each time, at last after `cool` seconds without load. If `root`
    contains a /sys with a list of CPUs, as in tests, the node's files are read below it, and the work of its CPUs runs
    on the real CPUs in turn.
    """

    def __init__(
        self,
        emit: Callable[..., None],
        clock: Callable[[], float],
        stop: threading.Event,
        library: Optional[bytes],
        seed: int,
        variant: Optional[str] = None,
        cool: float = CPU_COOL,
        faults: Optional[CpuFaults] = None,
        root: str = "",
    ) -> None:
        self.emit, self.clock, self.stop, self.seed = emit, clock, stop, seed
        self.skew, self.harm, self.spoil = faults or CpuFaults()
        self.cool, self.again, self.quiet = cool, CPU_ROUND, CpuQuiet(clock, lambda _: None)
        real = sorted(os.sched_getaffinity(0))
        simulated = cpu_list(cpu_text(root + "/sys/devices/system/cpu/online")) if root else []
        self.cpus, self.root = simulated or real, root if simulated else ""
        self.pins = {cpu: real[at % len(real)] for at, cpu in enumerate(simulated)}
        self.troubles: List[Dict[str, str]] = []
        self._lock = threading.Lock()
        self._faults: Counter[Tuple[str, str, str]] = Counter()
        self.nodes = cpu_nodes(self.cpus, self.root)
        self.far = cpu_far_nodes(self.nodes, self.root)
        self.kinds = cpu_kinds(self.cpus, self.root)
        self.kernels: Any = CpuStdlib()
        try:
            if library is not None:
                self.kernels = CpuKernels(library, variant)
            why = "no library for %s" % platform.machine()
        except (OSError, AttributeError) as error:
            why = str(error)
        if self.kernels.variant == "stdlib":
            self.troubles.append({"of": "cpu", "why": "only stdlib kernels: %s" % why})
        self.amx = 0 if self.kernels.variant == "stdlib" else self.kernels.amx()

    def hello(self) -> Dict[str, Any]:
        """Return the fields of the `about` record for the processors: memory in bytes, load average of one minute."""
        hello = {
            "cpus": self.cpus,
            "cpu": cpu_model(),
            "variant": self.kernels.variant,
            "virtual": cpu_virtual(self.root),
            "numa": dict(self.nodes, **{node: [] for node in self.far}),
            "memory": cpu_memory("MemTotal", root=self.root),
            "load": os.getloadavg()[0],
            "troubles": self.troubles,
        }
        if self.kernels.variant != "stdlib":  # otherwise it is unknown what the matrix units would have done
            hello["amx"] = " ".join(cpu_amx_types(self.amx))
        return hello

    def run(self, stages: List[Dict[str, Any]]) -> None:
        """Run the stages one after the other, each from its `from` to its `until`; return when done or stopped.

        If a stage must wait for the copies of GPUs, or was stopped for them, it and all later stages end later.
        """
        late = 0.0
        works = {"fingerprint": cpu_fingerprint, "crypto": cpu_crypto}
        if self.kernels.variant != "stdlib":
            works.update(fma=cpu_fma, amx=cpu_amx, triad=cpu_triad, ram=cpu_ram)
        if cpu_amx_refused(self.amx) and any(stage["stage"] == "fma" for stage in stages):
            self.undone("node", "amx", cpu_amx_refused(self.amx))
        for planned in sorted(cpu_amx_stages(stages, self.amx), key=lambda one: float(one["from"])):
            stage = dict(planned, **{"from": planned["from"] + late, "until": planned["until"] + late})
            self.stop.wait(max(0.0, stage["from"] - self.clock()))
            if self.stop.is_set():
                self.undone("node", stage["stage"], "stopped")
            elif stage["stage"] not in works:
                self.undone("node", stage["stage"], "unsupported: %s kernels" % self.kernels.variant)
            elif self.clock() >= stage["until"]:
                self.undone("node", stage["stage"], "stopped: its time limit was reached before it began")
            else:
                late += self._apart(works[stage["stage"]], stage)
        self._again(works)
        for (of, at, name), count in sorted(self._faults.items()):
            if count > 64:
                self.emit("error", of=of, stage=at, name=name, more=count - 64)

    def _apart(self, work: Callable[["Cpu", Dict[str, Any]], None], stage: Dict[str, Any]) -> float:
        """Run a stage, and load the host's memory only while no GPU copies; return by how much later it ends, in s.

        A stage that was stopped for copies is repeated in full. Its results are left out, unless it found an error.
        """
        if stage["stage"] not in CPU_HEAVY:
            work(self, stage)
            return 0.0
        planned, length, emit = stage["until"], stage["until"] - stage["from"], self.emit
        while True:
            waited = self.quiet.begin(stage["until"], self.stop)
            if waited is None:
                self.undone("node", stage["stage"], "stopped")
                return 0.0
            stage = dict(stage, **{"from": stage["from"] + waited, "until": stage["until"] + waited})
            kept = CpuRecords(emit)
            self.emit = kept.emit
            try:
                work(self, stage)
            finally:
                self.emit = emit
                cut = self.quiet.end() and not self.stop.is_set()
                if not cut or kept.errors:
                    kept.pass_on()
            if not cut:
                return max(0.0, float(stage["until"] - planned))
            stage = dict(stage, **{"from": self.clock(), "until": self.clock() + length})

    def _again(self, works: Mapping[str, Callable[["Cpu", Dict[str, Any]], None]]) -> None:
        """Repeat the stages that had wrong results, first while hot, then after cooling; count errors of each core."""
        known, loud = self._faults, self.emit
        suspects = sorted({(at, of) for of, at, _ in known if at in works})
        for heat, wait in (("hot", 0.0), ("cold", self.cool if suspects else 0.0)):
            self.stop.wait(wait)
            for name in sorted({at for at, _ in suspects}):
                begun, wrong = self.clock(), Counter()  # type: Tuple[float, Counter[str]]
                for _ in range(CPU_AGAIN):
                    if self.stop.is_set():
                        return
                    self._faults, self.emit = Counter(), lambda *_, **__: None
                    now = self.clock()
                    again = {"of": "cpu", "stage": name, "from": now, "until": now + self.again, "seeds": 1}
                    self._apart(works[name], again)
                    wrong.update({of for of, _, _ in self._faults})
                    self._faults, self.emit = known, loud
                for of in (of for at, of in suspects if at == name):
                    fields = {"from": round(begun, 3), "rounds": CPU_AGAIN, "found": wrong[of], "seed": self.seed}
                    self.emit("stage", of=of, stage="again", test="%s %s" % (name, heat), status="done", **fields)

    def ends(self, until: float) -> bool:
        """Return whether a stage must end, because `until` is reached or the burn-in is stopped."""
        return self.halted() or self.clock() >= until

    def halted(self) -> bool:
        """Return whether the work must stop now: the burn-in is stopped, or GPUs wait for the load on memory to end."""
        return self.stop.is_set() or self.quiet.cut

    def left(self, until: float) -> float:
        """Return for how many seconds the next call of a kernel may run."""
        return max(0.0, min(CPU_PIECE, until - self.clock()))

    def undone(self, of: str, stage: str, why: str, **fields: Any) -> None:
        """Report a part of the node or a stage as not tested."""
        self.emit("stage", of=of, stage=stage, status="not tested", why=why, **fields)

    def fault(self, of: str, stage: str, name: str, **fields: Any) -> None:
        """Report a finding: at most 64 records for one part, stage and name; further findings are only counted."""
        with self._lock:
            self._faults[of, stage, name] += 1
            known = self._faults[of, stage, name] <= 64
        if known:
            self.emit("error", of=of, stage=stage, name=name, **fields)

    def together(self, stage: str, work: Callable[[int], Any], cpus: List[int]) -> Dict[int, Any]:
        """Run `work` on each CPU, in a Python thread pinned to it; a CPU on which it fails is reported and omitted.

        Only the kernels of the standard library need this; the compiled kernels run in native threads (cpu_tasks.py).
        """
        results: Dict[int, Any] = {}

        def pinned(cpu: int) -> None:
            try:
                os.sched_setaffinity(0, {self.pins.get(cpu, cpu)})
                results[cpu] = work(cpu)
            except Exception as error:  # noqa: BLE001  a failure of this core does not stop the others
                none = isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM
                why = "no memory" if none else "lost"
                self.undone("cpu/%d" % cpu, stage, "%s: %s: %s" % (why, type(error).__name__, error))

        threads = [threading.Thread(target=pinned, args=(cpu,), daemon=True) for cpu in cpus]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    def times(self) -> CpuTimes:
        """Return zero sums for a worker that starts now; `from` is the current time."""
        return {"from": self.clock(), "wall": 0.0, "cpu": 0.0, "work": 0, "found": 0, "rounds": 0, "covered": 0}

    def done(
        self, stage: Dict[str, Any], of: str, test: str, times: CpuTimes, rated: bool, least: float = CPU_OBTAINED,
        **fields: Any,
    ) -> None:  # fmt: skip
        """Report a finished test.

        The test's record has a rate only if the kernel got the share `least` of the cores' time. If it got less, a test
        that only measures a rate (`rated`) is reported as not tested, and any other test is reported without a rate.
        """
        share = times["cpu"] / times["wall"] if times["wall"] else 0.0
        values = dict(fields, of=of, stage=stage["stage"], test=test, work=int(times["work"]))
        seconds = times.get("seconds") or times["cpu"]
        values.update({"from": times["from"], "seconds": seconds, "core_seconds": times["cpu"], "share": share})
        if share >= least:
            self.emit("stage", status="done", rate=times["work"] / seconds, **values)
        elif rated:
            self.emit("stage", status="not tested", why="contended: the work got %.2f of a core" % share, **values)
        else:
            self.emit("stage", status="done", **values)


def cpu_sum(times: CpuTimes, value: "CpuResult") -> None:
    """Add the result of one call to the sums."""
    times["wall"] += value.wall / 1e9
    times["cpu"] += value.cpu / 1e9
    times["work"] += value.work
    times["found"] += value.found
