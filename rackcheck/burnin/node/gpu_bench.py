# ruff: noqa: RUF005, UP031  for a node: Python 3.6, and one namespace for all files
"""One GPU under work, on the node: its context, its kernels, launches that are watched and told as stages and errors.

Work is a generator that yields where it would wait, so that one thread keeps several streams of one GPU busy. Work of
units and links does one round also where it begins late: a fraction of a second, and something to judge.
"""

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Dict, Generator, List, Optional, Set, Tuple

if TYPE_CHECKING:
    from threading import Event

    from rackcheck.burnin.node.cuda import CudaDriver

GPU_SLICE = 0.02
"""Seconds that a launch is to take: below the 50 ms after which a stop would be late."""

GPU_ERRORS = 64
"""Errors of one name that are told; one more says that there are more."""

GPU_KERNELS = ("fill", "verify", "march", "copy", "checksum", "flip_bits", "tensor", "fp64", "fp32", "int32", "sfu")

GpuWork = Generator[None, None, Any]


class GpuHang(Exception):
    """Work that did not come back; the message says which."""


class GpuTally:
    """What one stage did: work and pure seconds of each test, its mismatches, and more that the record is to say."""

    def __init__(self, of: str, stage: str, begun: float) -> None:
        self.of, self.stage, self.begun = of, stage, begun
        self.tests: Dict[str, Dict[str, Any]] = {}

    def add(self, test: str, unit: str, work: float, seconds: float, mismatches: Optional[int] = None) -> None:
        """Add work to a test; mismatches are counted where it verifies."""
        values = self.tests.setdefault(test, {"unit": unit, "work": 0, "seconds": 0.0})
        values["work"] += work
        values["seconds"] += seconds
        if mismatches is not None:
            values["mismatches"] = values.get("mismatches", 0) + mismatches

    def say(self, test: str, **more: Any) -> None:
        """Add fields to a test's record."""
        self.tests[test].update(more)

    def tell(self, tell: Callable[..., None], why: str) -> None:
        """Write a record for each test that did something; with a reason why the stage did not end, as not tested."""
        for test, values in self.tests.items():
            more = {"rate": values["work"] / values["seconds"]} if values["seconds"] > 0 else {}
            more.update({"status": "not tested", "why": why} if why else {"status": "done"})
            more.update(values, seconds=round(values["seconds"], 9))
            tell("stage", of=self.of, stage=self.stage, test=test, **dict(more, **{"from": round(self.begun, 3)}))


class GpuTeller:
    """Writes errors, each thing once and of each name no more than GPU_ERRORS."""

    def __init__(self, of: str, tell: Callable[..., None]) -> None:
        self._of, self._tell = of, tell
        self.wrong: Set[str] = set()
        self._told: Dict[str, int] = {}
        self._known: Set[Tuple[Any, ...]] = set()

    def error(self, stage: str, test: str, name: str, key: Tuple[Any, ...], **more: Any) -> None:
        """Tell a finding unless one of this name and key was told; stages with wrong results are kept by name."""
        if name in ("mismatch", "disagree", "not finite", "alias"):
            self.wrong.add(stage)
        if (stage, name) + key in self._known:
            return
        self._told[name] = self._told.get(name, 0) + 1
        if self._told[name] <= GPU_ERRORS:
            self._known.add((stage, name) + key)
            self._tell("error", of=self._of, stage=stage, test=test, name=name, **more)
        elif self._told[name] == GPU_ERRORS + 1:
            self._tell("error", of=self._of, stage=stage, test=test, name=name, more=True)


class GpuSlot:
    """A launch that may be under way: its report on both sides, its events, when it was last known to move."""

    def __init__(self, bench: "GpuBench", size: int) -> None:
        self.size, self.told = size, False
        self.report, self.host = bench.take(size), bench.pinned(size)
        self.begin, self.end, self.done = bench.event(), bench.event(), bench.event()


class GpuBench:
    """A GPU that this process works on. Raises CudaTrouble where it cannot be had."""

    def __init__(
        self, driver: "CudaDriver", index: int, blobs: Dict[str, bytes], clock: Callable[[], float], stop: "Event",
        report: int, hang: float, inject: Optional[Dict[str, int]] = None,
    ) -> None:  # fmt: skip
        self.driver, self.index, self.clock, self.stop = driver, index, clock, stop
        self._report, self._hang = report, hang
        self._owned: List[Tuple[str, Any]] = []
        self.inject = inject or {}
        self.of = "gpu/%d" % index
        self.device = driver.whole("cuDeviceGet", index)
        self.context = driver.handle("cuDevicePrimaryCtxRetain", self.device)
        driver.call("cuCtxSetCurrent", self.context)
        self.sms = driver.whole("cuDeviceGetAttribute", 16, self.device)
        self.threads = min(256, driver.whole("cuDeviceGetAttribute", 1, self.device))
        major = driver.whole("cuDeviceGetAttribute", 75, self.device)
        self.module, self.code = self._load(blobs, major)
        self.kernels = {
            name: driver.handle("cuModuleGetFunction", self.module, name.encode("ascii")) for name in GPU_KERNELS
        }

    def _load(self, blobs: Dict[str, bytes], major: int) -> Tuple[Any, str]:
        """Load machine code that was made for this chip's line; the driver translates PTX where there is none."""
        from_ptx = ctypes.create_string_buffer(blobs["ptx"])  # a text ends with a zero
        made = "sm_%d0" % major
        if made in blobs:
            image = ctypes.create_string_buffer(blobs[made], len(blobs[made]))
            out = ctypes.c_void_p()
            refused = (0, 209, 200)
            if self.driver.call("cuModuleLoadData", ctypes.byref(out), image, well=refused) == 0:
                return out, made
        return self.driver.handle("cuModuleLoadData", from_ptx), "ptx"

    def use(self) -> None:
        """Make this GPU the one that calls mean."""
        self.driver.call("cuCtxSetCurrent", self.context)

    def slots(self, count: int) -> List[GpuSlot]:
        """Make slots, for launches of which so many are under way at once."""
        return [GpuSlot(self, self._report) for _ in range(count)]

    def _own(self, freed_by: str, thing: Any) -> Any:
        self._owned.append((freed_by, thing))
        return thing

    def take(self, size: int) -> int:
        """Take bytes of the GPU until `tidy`."""
        return int(self._own("cuMemFree_v2", self.driver.take(size)))

    def pinned(self, size: int) -> Any:
        """Take bytes of the node's memory that the GPU may reach, until `tidy`."""
        return self._own("cuMemFreeHost", self.driver.handle("cuMemHostAlloc", size, 0))

    def stream(self) -> Any:
        """Make a stream that waits for no other, until `tidy`."""
        return self._own("cuStreamDestroy_v2", self.driver.handle("cuStreamCreate", 1))

    def event(self) -> Any:
        """Make an event, until `tidy`."""
        return self._own("cuEventDestroy_v2", self.driver.handle("cuEventCreate", 0))

    def tidy(self) -> None:
        """Give back what was taken for a stage; nothing may be under way."""
        self.use()
        while self._owned:
            self.driver.call(*self._owned.pop())

    def go(self, slot: GpuSlot, stream: Any, name: str, *given: Any, grid: int = 0, told: bool = True) -> None:
        """Launch a kernel; where it is to tell something its report comes as the last word of `given`."""
        driver = self.driver
        words = given + ((ctypes.c_uint64(slot.report),) if told else ())
        if told:
            driver.call("cuMemsetD8Async", slot.report, 0, slot.size, stream)
        driver.call("cuEventRecord", slot.begin, stream)
        driver.launch(self.kernels[name], grid or self.sms * 8, self.threads, stream, words)
        driver.call("cuEventRecord", slot.end, stream)
        if told:
            driver.call("cuMemcpyDtoHAsync_v2", slot.host, slot.report, slot.size, stream)
        driver.call("cuEventRecord", slot.done, stream)
        slot.told = told

    def wait(self, slot: GpuSlot, what: str) -> "Generator[None, None, Tuple[float, bytes]]":
        """Yield until a launch is back; answers with its seconds and its report. Raises GpuHang."""
        yield from self.until_come(slot.done, what)
        seconds = max(self.driver.seconds(slot.begin, slot.end), 1e-9)
        return seconds, ctypes.string_at(slot.host, slot.size) if slot.told else b""

    def until_come(self, event: Any, what: str) -> GpuWork:
        """Yield until an event came; raises GpuHang where it does not."""
        since = self.clock()
        yield  # others have a turn after each launch
        while not self.driver.come(event):
            if self.clock() - since > self._hang:
                raise GpuHang("%s on GPU %d did not come back within %g s" % (what, self.index, self._hang))
            yield

    def work(self, jobs: List[GpuWork]) -> bool:
        """Run jobs side by side to their ends, or until told to stop; answers whether they ended."""
        while jobs and not self.stop.is_set():
            for job in list(jobs):
                try:
                    next(job)
                except StopIteration:
                    jobs.remove(job)
            self.stop.wait(0.0002)
        return not jobs

    def leave(self) -> None:
        """Give the GPU back."""
        self.driver.call("cuDevicePrimaryCtxRelease_v2", self.device)


class GpuPace:
    """How much to launch at a time, so that it takes GPU_SLICE."""

    def __init__(self, first: int, most: int) -> None:
        self._now, self._most = min(first, most), most

    def next(self) -> int:
        """Give the amount, at least 1."""
        return self._now

    def took(self, amount: int, seconds: float) -> None:
        """Learn from a launch; grows at most fourfold at a time."""
        fit = int(amount * GPU_SLICE / seconds)
        self._now = max(1, min(fit, amount * 4, self._most))
