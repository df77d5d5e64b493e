# ruff: noqa: UP031  for a node: Python 3.6, and one namespace for all files
"""The child of one GPU, on the node: runs its stages by the plan, tells what it did, and ends when it is told to."""

import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List

if TYPE_CHECKING:
    from rackcheck.burnin.node.cuda import CUDA_NO_MEMORY, CUDA_SLOW, CudaDriver, CudaTrouble, cuda_described
    from rackcheck.burnin.node.gpu_bench import GpuBench, GpuHang, GpuTally, GpuTeller
    from rackcheck.burnin.node.gpu_links import gpu_host_work, gpu_peer_work
    from rackcheck.burnin.node.gpu_memory import GpuMemory, gpu_memory_work
    from rackcheck.burnin.node.gpu_truth import GPU_MASK, GPU_REPORT, gpu_mix, gpu_pairs, gpu_slots
    from rackcheck.burnin.node.gpu_units import gpu_scalar_work, gpu_tensor_work

GPU_HANG, GPU_SLOW = 5.0, 60.0
"""Seconds after which a launch or a call hangs, and of the calls that may be slow and well."""

GPU_TOGETHER = 0.6
"""The share of free memory that the stage in which all work is done takes."""

GPU_HOST_SHARE = 0.4
"""The share of the links' time that is the host's, where there are peers."""


def describe(library: str = "libcuda.so.1") -> Dict[str, Any]:
    """Say of each GPU, by its number in the PCI bus's order, what it is, or {"trouble": ...}; or the driver's trouble.

    Wakes the driver: to be called in a process of its own that ends afterwards.
    """
    _gpu_environment()
    try:
        driver = CudaDriver(library, lambda: 0.0)
        count = driver.start()
    except CudaTrouble as trouble:
        return {"trouble": trouble.why(), "code": trouble.code, "said": trouble.said}
    values: Dict[str, Any] = {}
    for index in range(count):
        try:
            values[str(index)] = cuda_described(driver, driver.whole("cuDeviceGet", index))
        except CudaTrouble as trouble:
            values[str(index)] = {"trouble": trouble.why(), "code": trouble.code, "said": trouble.said}
    return values


def _gpu_environment() -> None:
    """Leave no translated kernel in the user's home, and number GPUs as NVML does."""
    os.environ["CUDA_CACHE_DISABLE"] = "1"
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"


GPU_AGAIN, GPU_ROUND, GPU_COOL = 3, 0.5, 8.0
"""How often what went wrong is done again, hot and then cold; seconds of each time, and until it is cold."""


class GpuPeerTrouble(Exception):
    """Work with another GPU failed, which may be its fault: neither is blamed, and nothing more is done here."""


class GpuRun:
    """The stages of one GPU, one after the other."""

    def __init__(
        self, plan: Dict[str, Any], index: int, tell: Callable[..., None], clock: Callable[[], float],
        stop: threading.Event, blobs: Dict[str, bytes],
    ) -> None:  # fmt: skip
        self.plan, self.index, self.tell, self.clock, self.stop, self.blobs = plan, index, tell, clock, stop, blobs
        self.of = self.at = "gpu/%d" % index
        self.hang = float(plan.get("hang", GPU_HANG))
        self.teller = GpuTeller(self.of, tell)
        late = index * plan.get("step", 0.0)
        last = plan.get("deadline", float("inf")) - 0.2
        self.left: List[Dict[str, Any]] = [
            dict(stage, **{"from": stage["from"] + late, "until": min(stage["until"] + late, last)})
            for stage in plan["stages"]
            if stage["of"] in ("gpu", self.of)
        ]

    def run(self, library: str) -> None:
        """Do them all; what cannot be done is told as not tested."""
        _gpu_environment()
        try:
            driver = CudaDriver(library, self.clock)
            threading.Thread(target=self._watch, args=(driver,), daemon=True).start()
            self.count = driver.start()
            bench = self._bench(driver, self.index)
        except CudaTrouble as trouble:
            self._not_tested(trouble.why())
            if trouble.code:
                self.teller.error("", "", "cuda", (trouble.code,), code=trouble.code, said=str(trouble))
            return
        try:
            while self.left and not self.stop.wait(max(0.0, self.left[0]["from"] - self.clock())):
                self._stage(bench, self.left[0])
                if not self.stop.is_set():
                    bench.tidy()
                self.left.pop(0)
            self._not_tested("stopped")
            self._again(bench)
            if not self.stop.is_set():
                bench.leave()
        except GpuPeerTrouble as trouble:
            self._not_tested("lost: %s" % trouble)
        except CudaTrouble as trouble:
            stage = self.left[0]["stage"] if self.left else ""
            name = trouble.name()
            self.teller.error(stage, "", name, (trouble.code,), code=trouble.code, said=str(trouble))
            self._not_tested("lost: %s" % trouble)
        except GpuHang as hang:
            self._hung(str(hang))

    def _again(self, bench: "GpuBench") -> None:
        """Do the stages with wrong results again while it is hot, and once it has cooled."""
        works = {"memory": self._memory, "tensor": self._tensor, "scalar": self._scalar}
        suspects = sorted(self.teller.wrong & set(works))
        teller, self.teller = self.teller, GpuTeller(self.of, lambda *_, **__: None)
        last = float(self.plan.get("round", GPU_ROUND))
        for heat, wait in (("hot", 0.0), ("cold", float(self.plan.get("cool", GPU_COOL)) if suspects else 0.0)):
            if self.stop.wait(wait):
                break
            for name in suspects:
                begun, wrong = self.clock(), 0
                for _ in range(GPU_AGAIN):
                    self.teller.wrong.clear()
                    works[name](
                        bench,
                        GpuTally(self.of, name, begun),
                        self._seed(name),
                        self.clock() + last,
                    )
                    if self.stop.is_set():
                        return
                    bench.tidy()
                    wrong += name in self.teller.wrong
                fields = {"from": round(begun, 3), "rounds": GPU_AGAIN, "found": wrong, "seed": self._seed(name)}
                self.tell("stage", of=self.of, stage="again", test="%s %s" % (name, heat), status="done", **fields)
        self.teller = teller

    def _bench(self, driver: "CudaDriver", index: int) -> "GpuBench":
        return GpuBench(
            driver, index, self.blobs, self.clock, self.stop, GPU_REPORT, self.hang, self.plan.get("inject")
        )

    def _seed(self, stage: str) -> int:
        """The seed of a stage, the same on every GPU of every node of a plan, so that their hashes can be compared."""
        return int(gpu_mix((self.plan["seed"] + sum(stage.encode("ascii"))) & GPU_MASK))

    def _stage(self, bench: "GpuBench", stage: Dict[str, Any]) -> None:
        """Run one stage and tell what it did."""
        name, until = stage["stage"], stage["until"]
        tally, seed = GpuTally(self.of, name, self.clock()), self._seed(name)
        work = {"memory": self._memory, "tensor": self._tensor, "scalar": self._scalar, "links": self._links,
                "together": self._together}.get(name)  # fmt: skip
        if work is None:
            self._untested(self.of, name, "unsupported: no such stage")
            return
        try:
            work(bench, tally, seed, until)
        except CudaTrouble as trouble:
            if trouble.code != CUDA_NO_MEMORY:
                tally.tell(self.tell, "lost: %s" % trouble)
                raise
            tally.tell(self.tell, trouble.why())
            self._untested(self.of, name, trouble.why())
            return
        except GpuHang:
            tally.tell(self.tell, "hang")
            raise
        tally.tell(self.tell, "stopped" if self.stop.is_set() else "")
        if not tally.tests:
            self._untested(self.of, name, "stopped" if self.stop.is_set() else "under-loaded: its time was over")

    def _memory(self, bench: "GpuBench", tally: "GpuTally", seed: int, until: float) -> None:
        memory = GpuMemory(bench.driver)
        if bench.work([gpu_memory_work(bench, memory, tally, self.teller, seed, until)]):
            memory.free()

    def _tensor(self, bench: "GpuBench", tally: "GpuTally", seed: int, until: float) -> None:
        bench.work([gpu_tensor_work(bench, tally, self.teller, seed, until)])

    def _scalar(self, bench: "GpuBench", tally: "GpuTally", seed: int, until: float) -> None:
        bench.work([gpu_scalar_work(bench, tally, self.teller, seed, until)])

    def _links(self, bench: "GpuBench", tally: "GpuTally", seed: int, until: float) -> None:
        begun, slots = self.clock(), gpu_slots(self.count)
        host_until = begun + (until - begun) * GPU_HOST_SHARE if slots else until
        if not bench.work([gpu_host_work(bench, tally, self.teller, seed, host_until)]):
            return
        bench.tidy()
        for slot in range(slots):
            ends = host_until + (until - host_until) * (slot + 1) / slots
            for pair in gpu_pairs(self.count, slot):
                if self.index in pair and not self.stop.is_set():
                    self._peer(bench, pair[0] + pair[1] - self.index, seed, ends)
            self.stop.wait(max(0.0, ends - self.clock()))

    def _peer(self, bench: "GpuBench", other: int, seed: int, until: float) -> None:
        """Copy to one other GPU, and tell it as a thing of its own."""
        of = "peer/%d-%d" % (self.index, other)
        tally, teller = GpuTally(of, "links", self.clock()), GpuTeller(of, self.tell)
        self.at = of
        try:
            peer = self._bench(bench.driver, other)
            if bench.work([gpu_peer_work(bench, peer, tally, teller, seed, until)]):
                peer.tidy()
                peer.leave()
                bench.tidy()
        except CudaTrouble as trouble:
            if trouble.code not in (CUDA_NO_MEMORY, 46):
                teller.error("links", "copy", trouble.name(), (trouble.code,), code=trouble.code, said=str(trouble))
                tally.tell(self.tell, "lost: %s" % trouble)
                self._untested(of, "links", "lost: %s" % trouble)
                raise GpuPeerTrouble("%s, in a copy to GPU %d" % (trouble, other)) from None
            bench.tidy()
            self._untested(of, "links", trouble.why())
            return
        finally:
            self.at = self.of
        tally.tell(self.tell, "stopped" if self.stop.is_set() else "")
        if not tally.tests:
            self._untested(of, "links", "stopped" if self.stop.is_set() else "under-loaded: its time was over")

    def _together(self, bench: "GpuBench", tally: "GpuTally", seed: int, until: float) -> None:
        memory = GpuMemory(bench.driver, GPU_TOGETHER)
        jobs = [
            gpu_memory_work(bench, memory, tally, self.teller, seed, until),
            gpu_tensor_work(bench, tally, self.teller, seed, until, 1),
            gpu_host_work(bench, tally, self.teller, seed, until),
        ]
        if bench.work(jobs):
            memory.free()

    def _untested(self, of: str, stage: str, why: str) -> None:
        self.tell("stage", of=of, stage=stage, test="", status="not tested", why=why)

    def _not_tested(self, why: str) -> None:
        """Tell of each stage that is left that it was not tested."""
        for stage in self.left:
            self._untested(self.of, stage["stage"], why)
        self.left = []

    def _hung(self, message: str) -> None:
        """Tell it and end at once: nothing that waits for the driver may be asked of it any more."""
        stage = self.left[0]["stage"] if self.left else ""
        GpuTeller(self.at, self.tell).error(stage, "", "hang", (), said=message)
        self._not_tested("hang: %s" % message)
        os._exit(3)

    def _watch(self, driver: "CudaDriver") -> None:
        """See that no call of the driver keeps its thread for ever."""
        while True:
            inside = driver.inside
            if inside is not None:
                limit = max(GPU_SLOW, self.hang) if inside[0] in CUDA_SLOW else self.hang
                if self.clock() - inside[1] > limit:
                    self._hung("%s did not come back within %g s" % (inside[0], limit))
            threading.Event().wait(0.2)


def gpu_child(
    plan: Dict[str, Any], index: int, tell: Callable[..., None], clock: Callable[[], float], stop: threading.Event,
    blobs: Dict[str, bytes], library: str = "libcuda.so.1",
) -> None:  # fmt: skip
    """Run the GPU stages of a plan on one GPU, in a process of its own, which may end hard where the driver hangs.

    `index` counts GPUs in the order of the PCI bus; `blobs` holds `ptx`, `sm_80` and `sm_90` as built by
    kernels/build_gpu.py. A stage's times are of `clock`; GPU i is i steps later. For proofs on a device the plan may
    hold `inject`: `place` and `flip` (a line of the memory, and the bits that change in it after the first fill), `sm`
    and `bits` (an SM, and the bits that change in what it computes).
    """
    GpuRun(plan, index, tell, clock, stop, blobs).run(library)
