# ruff: noqa: RUF005, UP031  for a node: Python 3.6, and one namespace for all files
"""One GPU under load, on the node: its context, kernels and monitored launches, and its stage and error records.

Each test is a generator that yields instead of waiting, so that one thread keeps several streams of one GPU busy. A
test of units or links that starts late still runs one round, because a round takes a fraction of a second and gives a
result.
"""

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Dict, Generator, List, Optional, Set, Tuple

if TYPE_CHECKING:
    from threading import Event

    from rackcheck.burnin.node.cuda import CudaDriver, CudaTrouble
    from rackcheck.burnin.node.gpu_parts import GpuUnable

GPU_SLICE = 0.02
"""Target duration of a launch, in seconds: with more than 50 ms, a stop would take too long."""

GPU_WARM = 0.5
"""Seconds of work from which a rate is computed, if the stage has the time for it; a choice.

The first launch of a test, or its first copy, is slower than the others, and is no part of its rate.
"""

GPU_LEAST = 0.2
"""Share of GPU_WARM, of work after the first launch, below which a test has no rate; a choice."""

GPU_ERRORS = 64
"""Maximum number of error records with one name; further errors are reported by a single record with `more`."""

GPU_OLDEST = (8, 0)
"""The oldest compute capability for which the kernels are built (kernels/build_gpu.py): bf16 products need it."""

GPU_L2 = 256 << 20
"""Size of the L2 cache, in bytes, that is assumed if the driver reports none; it is meant to be too large."""

GPU_KERNELS = ("fill", "verify", "march", "copy", "checksum", "flip_bits", "tensor", "fp64", "fp32", "int32", "sfu")

GPU_MEMORY_KERNELS = ("fill", "verify", "march", "copy", "checksum")
"""The kernels that run beside the products of matrices in the stage `together`."""

GpuWork = Generator[None, None, Any]


class GpuHang(Exception):
    """A launch or a copy did not complete in time; the message names it."""


class GpuTally:
    """The results of one stage: amount of work, net seconds, mismatches and further fields of each test.

    `work` and `seconds` include the first launch of a test, its rate does not. A test that was measured for fewer than
    `least` seconds after its first launch has no rate.
    """

    def __init__(self, of: str, stage: str, begun: float, least: float = GPU_LEAST * GPU_WARM) -> None:
        self.of, self.stage, self.begun, self._least = of, stage, begun, least
        self.tests: Dict[str, Dict[str, Any]] = {}
        self._warm: Dict[str, Tuple[float, float]] = {}

    def add(self, test: str, unit: str, work: float, seconds: float, mismatches: Optional[int] = None) -> None:
        """Add an amount of work to a test; `mismatches` is set if the test verifies its results."""
        values = self.tests.setdefault(test, {"unit": unit, "work": 0, "seconds": 0.0})
        values["work"] += work
        values["seconds"] += seconds
        if seconds > 0:
            done, measured = self._warm.get(test, (0.0, 0.0))
            self._warm[test] = (done + work, measured + seconds) if test in self._warm else (0.0, 0.0)
        if mismatches is not None:
            values["mismatches"] = values.get("mismatches", 0) + mismatches

    def measured(self, test: str) -> float:
        """Return the seconds of a test's work after its first launch."""
        return self._warm.get(test, (0.0, 0.0))[1]

    def add_fields(self, test: str, **more: Any) -> None:
        """Add further fields to a test's record."""
        self.tests[test].update(more)

    def emit(self, emit: Callable[..., None], why: str) -> None:
        """Write a record for each test that did work; with `why`, each record has the status `not tested`."""
        for test, values in self.tests.items():
            more: Dict[str, Any] = {}
            if test in self._warm:
                work, seconds = self._warm[test]
                more = {"rate": work / seconds} if seconds > 0 and seconds >= self._least else {}
                more.update(measured=round(seconds, 9), least=self._least)
            more.update({"status": "not tested", "why": why} if why else {"status": "done"})
            more.update(values, seconds=round(values["seconds"], 9))
            emit("stage", of=self.of, stage=self.stage, test=test, **dict(more, **{"from": round(self.begun, 3)}))


class GpuRecordWriter:
    """Writes error records: only one for each finding, and at most GPU_ERRORS for each name of findings."""

    def __init__(self, of: str, emit: Callable[..., None]) -> None:
        self._of, self._emit = of, emit
        self.wrong: Set[str] = set()
        self._counts: Dict[str, int] = {}
        self._known: Set[Tuple[Any, ...]] = set()

    def error(self, stage: str, test: str, name: str, key: Tuple[Any, ...], **more: Any) -> None:
        """Report a finding, unless this stage has reported one with the same name and key.

        `key` identifies a finding, for example by its address. At most GPU_ERRORS findings of one name are reported.
        `wrong` collects the stages that had wrong results.
        """
        if name in ("mismatch", "disagree", "not finite", "alias"):
            self.wrong.add(stage)
        if (stage, name) + key in self._known:
            return
        self._counts[name] = self._counts.get(name, 0) + 1
        if self._counts[name] <= GPU_ERRORS:
            self._known.add((stage, name) + key)
            self._emit("error", of=self._of, stage=stage, test=test, name=name, **more)
        elif self._counts[name] == GPU_ERRORS + 1:
            self._emit("error", of=self._of, stage=stage, test=test, name=name, more=True)


class GpuSlot:
    """Buffers of one launch: its report in GPU memory and in host memory, and the events that mark its progress."""

    def __init__(self, bench: "GpuBench", size: int) -> None:
        self.size, self.reports = size, False
        self.report, self.host = bench.take(size), bench.pinned(size)
        self.begin, self.end, self.done = bench.event(), bench.event(), bench.event()


class GpuBench:
    """A GPU on which this process runs tests: its name in the records is `gpu/INDEX`, `device` is its CUDA device.

    `l2` is the size of its L2 cache in bytes. `resident` has, for each kernel, how many of its blocks run on one SM at
    the same time if nothing else runs there, or 0 if the driver does not report it.

    Raises CudaTrouble if the GPU is not available, and GpuUnable if it is too old for the kernels.
    """

    def __init__(
        self, driver: "CudaDriver", index: int, device: int, blobs: Dict[str, bytes], clock: Callable[[], float],
        stop: "Event", report: int, hang: float, inject: Optional[Dict[str, int]] = None,
    ) -> None:  # fmt: skip
        self.driver, self.index, self.clock, self.stop = driver, index, clock, stop
        self._report, self._hang = report, hang
        self._owned: List[Tuple[str, Any]] = []
        self.inject = inject or {}
        self.of = "gpu/%d" % index
        self.device = device
        cc = (driver.whole("cuDeviceGetAttribute", 75, device), driver.whole("cuDeviceGetAttribute", 76, device))
        if cc < GPU_OLDEST:
            raise GpuUnable("unsupported: compute capability %d.%d; the kernels need %d.%d" % (cc + GPU_OLDEST))
        self.context = driver.handle("cuDevicePrimaryCtxRetain", self.device)
        driver.call("cuCtxSetCurrent", self.context)
        self.sms = driver.whole("cuDeviceGetAttribute", 16, self.device)
        self.threads = min(256, driver.whole("cuDeviceGetAttribute", 1, self.device))
        self.l2 = driver.whole("cuDeviceGetAttribute", 38, self.device) or GPU_L2
        self.module, self.code = self._load(blobs, cc[0])
        self.kernels = {
            name: driver.handle("cuModuleGetFunction", self.module, name.encode("ascii")) for name in GPU_KERNELS
        }
        self.resident = {name: self._resident(name) for name in GPU_KERNELS}
        self._room: Optional[Tuple[int, int]] = None

    def _resident(self, name: str) -> int:
        try:
            reported = self.driver.whole(
                "cuOccupancyMaxActiveBlocksPerMultiprocessor", self.kernels[name], self.threads, 0
            )
        except CudaTrouble as trouble:
            if trouble.code:
                raise
            return 0  # the driver has no such function
        return max(0, reported)

    def blocks(self, name: str) -> int:
        """Return the number of blocks of a kernel with which it fills the GPU, or the room that `leave_room` left it.

        If the driver does not report how many blocks run at the same time, the number is one for each SM.
        """
        left, whole = self._room or (1, 1)
        return self.sms * max(1, self.resident[name] * left // whole)

    def leave_room(self, name: str) -> int:
        """Limit all other kernels, until `tidy`, to the room that half of a kernel's blocks leave; return this half.

        A block of a kernel of which N run on an SM needs at most 1/N of the SM's registers, threads and shared memory.
        So `half` of N blocks of one kernel, and (N - half)/N of the blocks of another, run on an SM at the same time.
        """
        whole = max(1, self.resident[name])
        half = max(1, whole // 2)
        self._room = (whole - half, whole)
        return half

    def crowded(self, name: str) -> List[str]:
        """Return the kernels of which no block fits beside half of the blocks of the kernel `name`."""
        whole = self.resident[name]
        left = whole - max(1, whole // 2)
        return [other for other in GPU_MEMORY_KERNELS if self.resident[other] * left < max(1, whole)]

    def _load(self, blobs: Dict[str, bytes], major: int) -> Tuple[Any, str]:
        """Load the machine code for this GPU's generation; if there is none that fits, the driver compiles the PTX."""
        from_ptx = ctypes.create_string_buffer(blobs["ptx"])  # adds the terminating zero byte
        made = "sm_%d0" % major
        if made in blobs:
            image = ctypes.create_string_buffer(blobs[made], len(blobs[made]))
            out = ctypes.c_void_p()
            refused = (0, 209, 200)
            if self.driver.call("cuModuleLoadData", ctypes.byref(out), image, well=refused) == 0:
                return out, made
        return self.driver.handle("cuModuleLoadData", from_ptx), "ptx"

    def use(self) -> None:
        """Make this GPU's context the current one."""
        self.driver.call("cuCtxSetCurrent", self.context)

    def slots(self, count: int) -> List[GpuSlot]:
        """Create `count` slots; each launch that is in flight at the same time needs its own slot."""
        return [GpuSlot(self, self._report) for _ in range(count)]

    def _own(self, freed_by: str, thing: Any) -> Any:
        self._owned.append((freed_by, thing))
        return thing

    def take(self, size: int) -> int:
        """Allocate GPU memory of this many bytes; `tidy` frees it."""
        return int(self._own("cuMemFree_v2", self.driver.take(size)))

    def pinned(self, size: int) -> Any:
        """Allocate host memory that the GPU can access; `tidy` frees it."""
        return self._own("cuMemFreeHost", self.driver.handle("cuMemHostAlloc", size, 0))

    def stream(self) -> Any:
        """Create a stream that does not wait for other streams; `tidy` destroys it."""
        return self._own("cuStreamDestroy_v2", self.driver.handle("cuStreamCreate", 1))

    def event(self) -> Any:
        """Create an event; `tidy` destroys it."""
        return self._own("cuEventDestroy_v2", self.driver.handle("cuEventCreate", 0))

    def tidy(self) -> None:
        """Release the memory, streams and events of a stage; no launch may be in flight."""
        self.use()
        self._room = None
        while self._owned:
            self.driver.call(*self._owned.pop())

    def go(self, slot: GpuSlot, stream: Any, name: str, *given: Any, grid: int = 0, report: bool = True) -> None:
        """Launch a kernel; with `report`, the address of the report buffer in `slot` is the kernel's last argument.

        Without `grid`, a kernel that reads or writes memory has more blocks than run at the same time, unless it must
        leave room for another kernel: blocks that wait would take the room of the other kernel's next launch.
        """
        driver = self.driver
        words = given + ((ctypes.c_uint64(slot.report),) if report else ())
        if report:
            driver.call("cuMemsetD8Async", slot.report, 0, slot.size, stream)
        driver.call("cuEventRecord", slot.begin, stream)
        grid = grid or (self.blocks(name) if self._room else self.sms * 8)
        driver.launch(self.kernels[name], grid, self.threads, stream, words)
        driver.call("cuEventRecord", slot.end, stream)
        if report:
            driver.call("cuMemcpyDtoHAsync_v2", slot.host, slot.report, slot.size, stream)
        driver.call("cuEventRecord", slot.done, stream)
        slot.reports = report

    def wait(self, slot: GpuSlot, what: str) -> "Generator[None, None, Tuple[float, bytes]]":
        """Yield until a launch is complete; return its seconds and its report.

        Raises GpuHang if the launch is not complete in time.
        """
        yield from self.until_come(slot.done, what)
        seconds = max(self.driver.seconds(slot.begin, slot.end), 1e-9)
        return seconds, ctypes.string_at(slot.host, slot.size) if slot.reports else b""

    def until_come(self, event: Any, what: str) -> GpuWork:
        """Yield until an event is complete. Raises GpuHang if the event is not complete in time."""
        since = self.clock()
        yield  # other jobs run after each launch, and may use another GPU
        self.use()
        while not self.driver.come(event):
            if self.clock() - since > self._hang:
                raise GpuHang("%s on GPU %d did not complete within %g s" % (what, self.index, self._hang))
            yield
            self.use()

    def work(self, jobs: List[GpuWork]) -> bool:
        """Run jobs concurrently until they are complete or `stop` is set; return whether all are complete."""
        while jobs and not self.stop.is_set():
            for job in list(jobs):
                try:
                    next(job)
                except StopIteration:
                    jobs.remove(job)
            self.stop.wait(0.0002)
        return not jobs

    def leave(self) -> None:
        """Release the GPU's context."""
        self.driver.call("cuDevicePrimaryCtxRelease_v2", self.device)


class GpuPace:
    """Chooses the amount of work for each launch, so that a launch takes about GPU_SLICE seconds."""

    def __init__(self, first: int, most: int) -> None:
        self._now, self._most = min(first, most), most

    def next(self) -> int:
        """Return the amount of work for the next launch, at least 1."""
        return self._now

    def took(self, amount: int, seconds: float) -> None:
        """Adjust the amount of work to the duration of the last launch; it grows at most fourfold at a time."""
        fit = int(amount * GPU_SLICE / seconds)
        self._now = max(1, min(fit, amount * 4, self._most))
