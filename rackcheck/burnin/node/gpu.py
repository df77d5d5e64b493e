# ruff: noqa: UP031  for a node: Python 3.6, and one namespace for all files
"""The process of one GPU on the node: runs the plan's stages, reports their results, and ends on request."""

import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional

if TYPE_CHECKING:
    from rackcheck.burnin.node.cuda import (
        CUDA_FABRIC,
        CUDA_NO_MEMORY,
        CUDA_SLOW,
        CudaDriver,
        CudaTrouble,
        cuda_described,
    )
    from rackcheck.burnin.node.gpu_bench import GPU_LEAST, GPU_WARM, GpuBench, GpuHang, GpuRecordWriter, GpuTally
    from rackcheck.burnin.node.gpu_links import gpu_host_work
    from rackcheck.burnin.node.gpu_memory import GpuMemory, gpu_memory_work
    from rackcheck.burnin.node.gpu_parts import GpuDevices, GpuPart, GpuUnable, gpu_stay_near
    from rackcheck.burnin.node.gpu_quiet import GPU_LOUD
    from rackcheck.burnin.node.gpu_truth import GPU_MASK, GPU_REPORT, gpu_mix
    from rackcheck.burnin.node.gpu_units import gpu_scalar_work, gpu_tensor_work

GPU_HANG, GPU_SLOW = 5.0, 60.0
"""Seconds after which a launch or driver call counts as hanging; the second value is for the functions in CUDA_SLOW.

The second value is raised, if it is lower, to the time in which the driver must list the GPUs (the plan's `ready`).
"""

GPU_TOGETHER = 0.6
"""Share of the free memory that the stage `together`, which runs all kinds of work in parallel, allocates."""

GPU_NEEDED = {"memory": ("verify",), "tensor": ("mma",), "links": ("h2d",), "together": ("verify", "mma", "h2d")}
"""The tests without which a stage counts as not tested, by stage."""

GPU_FILLED = {"tensor": ("tensor",), "scalar": ("fp64", "fp32", "int32", "sfu"), "together": ("tensor",)}
"""The kernels that must fill the GPU, by stage; their launches need the number of blocks that run at the same time."""

GPU_LATE = 1.0
"""Seconds by which a stage may begin late although less than half of its time is left."""

GPU_HOST_SHARE = 0.4
"""Fraction of the duration of the stage `links` that is used for the link to the host, if there are peer GPUs."""


def describe(library: str = "libcuda.so.1") -> Dict[str, Any]:
    """Describe each GPU by its index in PCI bus order; if the driver fails, return {"trouble": reason}.

    Call this function in a separate process that ends afterwards, because the function loads the driver.
    """
    gpu_environment()
    try:
        driver = CudaDriver(library, lambda: 0.0)
        count = driver.start()
    except CudaTrouble as trouble:
        return {"trouble": trouble.why(), "code": trouble.code, "said": trouble.message}
    values: Dict[str, Any] = {}
    for index in range(count):
        try:
            values[str(index)] = cuda_described(driver, driver.whole("cuDeviceGet", index))
        except CudaTrouble as trouble:
            values[str(index)] = {"trouble": trouble.why(), "code": trouble.code, "said": trouble.message}
    return values


def gpu_environment() -> None:
    """Disable the driver's cache of translated kernels in the user's home, and number GPUs in PCI bus order.

    The driver loads and compiles all kernels with their module, not when they are first used (NVIDIA, CUDA Programming
    Guide, Lazy Loading), so that no test measures it.
    """
    os.environ["CUDA_CACHE_DISABLE"] = "1"
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    os.environ["CUDA_MODULE_LOADING"] = "EAGER"


def gpu_seed(plan: Dict[str, Any], stage: str) -> int:
    """Return a stage's seed, which is equal on all GPUs of all nodes of a plan, so that hashes can be compared."""
    return int(gpu_mix((plan["seed"] + sum(stage.encode("ascii"))) & GPU_MASK))


def gpu_unfilled(bench: "GpuBench", stage: str) -> str:
    """Return why a stage did not load the GPU as it must; empty if it did.

    In the stage `together`, matrix products and tests of memory must run on each SM at the same time.
    """
    unknown = [kernel for kernel in GPU_FILLED.get(stage, ()) if not bench.resident[kernel]]
    if unknown:
        what = "the driver does not report how many blocks of %s run at the same time"
        return "under-loaded: " + what % ", ".join(unknown)
    crowded = bench.crowded("tensor") if stage == "together" else []
    return (
        "under-loaded: no block of %s fits on an SM beside the matrix products" % ", ".join(crowded) if crowded else ""
    )


def gpu_watch(
    driver: "CudaDriver", plan: Dict[str, Any], clock: Callable[[], float], late: Callable[[str, float], None]
) -> None:
    """Call `late` with the name and the time limit of a call of the driver that does not return in time."""
    hang = float(plan.get("hang", GPU_HANG))
    slow = max(plan.get("slow", GPU_SLOW), plan.get("ready", 0.0), hang)
    while True:
        inside = driver.inside
        if inside is not None:
            limit = slow if inside[0] in CUDA_SLOW else hang
            if clock() - inside[1] > limit:
                late(inside[0], limit)
        threading.Event().wait(0.2)


GPU_AGAIN, GPU_ROUND, GPU_COOL = 3, 0.5, 8.0
"""Number of runs of a failed stage while hot, and again after cooling; seconds of each run; seconds of cooling."""


class GpuRun:
    """Runs the stages of one GPU, one after the other."""

    def __init__(
        self, plan: Dict[str, Any], index: int, emit: Callable[..., None], clock: Callable[[], float],
        stop: threading.Event, blobs: Dict[str, bytes], parts: Mapping[int, "GpuPart"],
        turn: Optional[Callable[..., bool]],
    ) -> None:  # fmt: skip
        self.parts, self.turn, self.loud = parts, turn, ""
        self.plan, self.index, self.emit, self.clock, self.stop, self.blobs = plan, index, emit, clock, stop, blobs
        self.of = "gpu/%d" % index
        self.hang, self.warm = float(plan.get("hang", GPU_HANG)), float(plan.get("warm", GPU_WARM))
        self.writer = GpuRecordWriter(self.of, emit)
        self.hold = 0.0
        self.last = plan.get("deadline", float("inf")) - 0.2
        self.left: List[Dict[str, Any]] = [dict(each) for each in plan["stages"] if each["of"] in ("gpu", self.of)]
        self.begin = min([stage["from"] for stage in self.left] or [0.0])
        self._postpone(index * plan.get("step", 0.0))

    def run(self, library: str) -> None:
        """Run all stages; a stage that cannot run is reported as not tested."""
        gpu_environment()
        gpu_stay_near(self.parts.get(self.index, {}).get("pci", ""), self.plan.get("root", ""))
        try:
            driver = CudaDriver(library, self.clock)
            threading.Thread(target=gpu_watch, args=(driver, self.plan, self.clock, self._late), daemon=True).start()
            self.devices = GpuDevices(driver, driver.start(), self.parts)
            self._report_extra()
            bench = self._bench(driver, self.index)
        except GpuUnable as unable:
            self._not_tested(str(unable))
            if self.turn:
                self.turn(turn="unable")
            return
        except CudaTrouble as trouble:
            self._not_tested(trouble.why())
            if trouble.faulty():
                self._no_start(trouble)
            return
        self._started()
        try:
            while self.left and not self.stop.wait(max(0.0, self.left[0]["from"] - self.clock())):
                self._stage(bench, self.left[0])
                if not self.stop.is_set():
                    bench.tidy()
                self.left.pop(0)
            self._not_tested(self._stopped())
            self._again(bench)
            if not self.stop.is_set():
                bench.leave()
        except CudaTrouble as trouble:
            stage = self.left[0]["stage"] if self.left else ""
            name = trouble.name()
            self.writer.error(stage, "", name, (trouble.code,), code=trouble.code, said=str(trouble))
            self._not_tested("lost: %s" % trouble)
        except GpuHang as hang:
            self._hung(str(hang))

    def _postpone(self, late: float, done: int = 0) -> None:
        """Let the stages, except the first `done`, begin and end later, and end by the plan's deadline."""
        for stage in self.left[done:]:
            stage.update({"from": stage["from"] + late, "until": min(stage["until"] + late, self.last)})

    def _started(self) -> None:
        """Postpone all stages by the time that the driver took to start and to compile the kernels."""
        late = self.clock() - self.begin
        if late <= 0:
            return
        if self.turn:
            self.turn(turn="started", late=late)
        self.last = max(self.last, min(self.last + late, self.plan.get("latest", float("inf")) - 0.2))
        self._postpone(late)

    def _first(self) -> bool:
        """Return whether this process is that of the first GPU under test, which reports about the whole node."""
        return self.index == min([n for n, part in self.parts.items() if not part.get("refused")] or [self.index])

    def _no_start(self, trouble: "CudaTrouble") -> None:
        """Report a fault at the start of this GPU's test.

        If CUDA itself does not start, the fault is reported for the node, because any GPU may be the cause.
        """
        of = "node" if trouble.call == "cuInit" and trouble.code != CUDA_FABRIC else self.of
        if of == self.of or self._first():
            writer = GpuRecordWriter(of, self.emit)
            writer.error("", "", "cuda", (trouble.code,), code=trouble.code, said=str(trouble))

    def _report_extra(self) -> None:
        """Report GPUs that CUDA lists and NVML does not."""
        if self.devices.extra and self._first():
            why = "not identified: CUDA lists a GPU that NVML does not list: %s" % ", ".join(self.devices.extra)
            self.emit("about", troubles=[{"of": "node", "why": why}])

    def _again(self, bench: "GpuBench") -> None:
        """Repeat the stages that had wrong results, first while hot, then after cooling down."""
        works = {"memory": self._memory, "tensor": self._tensor, "scalar": self._scalar}
        suspects = sorted(self.writer.wrong & set(works))
        writer, self.writer = self.writer, GpuRecordWriter(self.of, lambda *_, **__: None)
        last = float(self.plan.get("round", GPU_ROUND))
        for heat, wait in (("hot", 0.0), ("cold", float(self.plan.get("cool", GPU_COOL)) if suspects else 0.0)):
            if self.stop.wait(wait):
                break
            for name in suspects:
                begun, wrong, seed = self.clock(), 0, gpu_seed(self.plan, name)
                for _ in range(GPU_AGAIN):
                    self.writer.wrong.clear()
                    works[name](
                        bench,
                        GpuTally(self.of, name, begun),
                        seed,
                        self.clock() + last + (2 * self.hold if name == "memory" else 0.0),
                    )
                    if self.stop.is_set():
                        return
                    bench.tidy()
                    wrong += name in self.writer.wrong
                fields = {"from": round(begun, 3), "rounds": GPU_AGAIN, "found": wrong, "seed": seed}
                self.emit("stage", of=self.of, stage="again", test="%s %s" % (name, heat), status="done", **fields)
        self.writer = writer

    def _bench(self, driver: "CudaDriver", index: int) -> "GpuBench":
        device, inject = self.devices.device(index), self.plan.get("inject")
        return GpuBench(driver, index, device, self.blobs, self.clock, self.stop, GPU_REPORT, self.hang, inject)

    def _stage(self, bench: "GpuBench", stage: Dict[str, Any]) -> None:
        """Run one stage and report its result."""
        name, until = stage["stage"], stage["until"]
        tally, seed = GpuTally(self.of, name, self.clock(), GPU_LEAST * self.warm), gpu_seed(self.plan, name)
        planned, left = until - stage["from"], until - tally.begun
        short = left < planned / 2 and planned - left > GPU_LATE
        late = "under-loaded: %.1f s of %.1f s were left" % (max(0.0, left), planned) if short else ""
        if name == "memory":
            self.hold = stage.get("hold", 0.0)  # repetitions of this stage pause as long
        work = {"memory": self._memory, "tensor": self._tensor, "scalar": self._scalar, "links": self._links,
                "together": self._together}.get(name)  # fmt: skip
        if work is None:
            self._untested(self.of, name, "unsupported: no such stage")
            return
        try:
            work(bench, tally, seed, until)
        except CudaTrouble as trouble:
            if trouble.code != CUDA_NO_MEMORY:
                tally.emit(self.emit, "lost: %s" % trouble)
                raise
            tally.emit(self.emit, trouble.why())
            self._untested(self.of, name, trouble.why())
            return
        except GpuHang:
            tally.emit(self.emit, "hang")
            raise
        tally.emit(self.emit, self._stopped() if self.stop.is_set() else late or self.loud or gpu_unfilled(bench, name))
        self.loud = ""
        missing = [test for test in GPU_NEEDED.get(name, ()) if test not in tally.tests]
        if not tally.tests:
            self._untested(self.of, name, self._stopped() if self.stop.is_set() else "under-loaded: time limit reached")
        elif missing and not self.stop.is_set():
            self._untested(self.of, name, "under-loaded: no time was left for %s" % ", ".join(missing))

    def _memory(self, bench: "GpuBench", tally: "GpuTally", seed: int, until: float) -> None:
        memory = GpuMemory(bench.driver, l2=bench.l2)
        work = gpu_memory_work(bench, memory, tally, self.writer, seed, until, self.hold, self.warm)
        self._with(bench, memory, [work])

    def _with(self, bench: "GpuBench", memory: "GpuMemory", jobs: List[Any]) -> None:
        """Run jobs, and free the memory that they test, also if there was no memory for anything else."""
        try:
            if bench.work(jobs):
                memory.free()
        except CudaTrouble as trouble:
            if trouble.code == CUDA_NO_MEMORY:
                bench.tidy()
                memory.free()
            raise

    def _tensor(self, bench: "GpuBench", tally: "GpuTally", seed: int, until: float) -> None:
        bench.work([gpu_tensor_work(bench, tally, self.writer, seed, until)])

    def _scalar(self, bench: "GpuBench", tally: "GpuTally", seed: int, until: float) -> None:
        bench.work([gpu_scalar_work(bench, tally, self.writer, seed, until)])

    def _links(self, bench: "GpuBench", tally: "GpuTally", seed: int, until: float) -> None:
        """Copy over the links of this GPU, while no stage of the CPU loads the host's memory (gpu_quiet.py)."""
        if self.turn and not self.turn(turn="quiet"):
            self.loud = GPU_LOUD
        tally.begun = self.clock()
        try:
            self._copy(bench, tally, seed, until)
        finally:
            if self.turn:
                self.turn(turn="loud")

    def _copy(self, bench: "GpuBench", tally: "GpuTally", seed: int, until: float) -> None:
        """Copy to the host and back, and then wait while another process copies between the GPUs (gpu_peers.py)."""
        turn = self.turn if len(self.devices.peers) > 1 else None
        begun = self.clock()
        host_until = begun + (until - begun) * GPU_HOST_SHARE if turn else until
        try:
            if not bench.work([gpu_host_work(bench, tally, self.writer, seed, host_until, self.warm)]):
                return
        except CudaTrouble as trouble:
            if turn and trouble.code == CUDA_NO_MEMORY:
                turn(turn="links", until=until)  # the other GPUs wait for this one
            raise
        bench.tidy()
        if turn:
            turn(turn="links", until=until)
        step = self.index * self.plan.get("step", 0.0)  # the GPUs go on one after the other
        self._postpone(max(0.0, self.clock() - until + step), 1)

    def _together(self, bench: "GpuBench", tally: "GpuTally", seed: int, until: float) -> None:
        memory = GpuMemory(bench.driver, GPU_TOGETHER, bench.l2)
        jobs = [
            gpu_memory_work(bench, memory, tally, self.writer, seed, until),
            gpu_tensor_work(bench, tally, self.writer, seed, until, bench.leave_room("tensor")),
            gpu_host_work(bench, tally, self.writer, seed, until),
        ]
        self._with(bench, memory, jobs)

    def _stopped(self) -> str:
        """Return why the stages that are left are not tested; `stop` has the reason if it is a StopEvent (child.py)."""
        return getattr(self.stop, "why", "") or "stopped"

    def _untested(self, of: str, stage: str, why: str) -> None:
        self.emit("stage", of=of, stage=stage, test="", status="not tested", why=why)

    def _not_tested(self, why: str) -> None:
        """Report each remaining stage as not tested."""
        for stage in self.left:
            self._untested(self.of, stage["stage"], why)
        self.left = []

    def _hung(self, message: str) -> None:
        """Report a hang and end the process immediately, because any further call of the driver would hang too."""
        stage = self.left[0]["stage"] if self.left else ""
        GpuRecordWriter(self.of, self.emit).error(stage, "", "hang", (), said=message)
        self._not_tested("hang: %s" % message)
        os._exit(3)

    def _late(self, call: str, limit: float) -> None:
        """End the process, because a call of the driver does not return; cuInit initialises every GPU of the node."""
        message = "%s did not complete within %g s" % (call, limit)
        if call != "cuInit":
            self._hung(message)
        self._not_tested("slow start: %s" % message)
        os._exit(3)


def gpu_child(
    plan: Dict[str, Any], index: int, emit: Callable[..., None], clock: Callable[[], float], stop: threading.Event,
    blobs: Dict[str, bytes], library: str = "libcuda.so.1", parts: Optional[Mapping[int, "GpuPart"]] = None,
    turn: Optional[Callable[..., bool]] = None,
) -> None:  # fmt: skip
    """Run a plan's GPU stages on one GPU; call this in a separate process, which is killed if the driver hangs.

    `index` is the GPU's NVML index, and `parts` has every GPU that NVML lists; without `parts`, `index` is the index in
    CUDA's list, in PCI bus order. `blobs` has `ptx`, `sm_80` and `sm_90`, built by kernels/build_gpu.py.
    The start and end times of stages are in seconds, as `clock` returns them. Each GPU starts later than the previous
    one by the plan's `step`, in seconds. The stages begin later by the time that the driver takes to start and to
    compile the kernels, and end by the plan's `latest`. `turn` reports to the supervisor; it returns from
    `turn="links"` when the copies between GPUs are complete, and from `turn="quiet"` when no stage of the CPU loads the
    host's memory, or False if that takes too long. Without `turn`, there are no copies between GPUs. A plan may have
    `inject`, to inject faults in tests on real GPUs: `place` is the index of a 16-byte word of GPU memory, and `flip`
    are the bits that are flipped in it after the first fill. `sm` is the SM that computes wrong results, and `bits` are
    the bits that are flipped in these results.
    """
    GpuRun(plan, index, emit, clock, stop, blobs, parts or {}, turn).run(library)
