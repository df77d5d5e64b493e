# ruff: noqa: UP031  for a node: Python 3.6, and one namespace for all files
"""Tests nearly all memory of a GPU on the node, in both orders of its addresses, with a new seed each time."""

import ctypes
import struct
from collections import deque
from typing import TYPE_CHECKING, Any, Deque, List, Sequence, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cuda import CUDA_NO_MEMORY, CudaDriver, CudaTrouble
    from rackcheck.burnin.node.gpu_bench import GpuBench, GpuPace, GpuRecordWriter, GpuTally, GpuWork
    from rackcheck.burnin.node.gpu_truth import GPU_LINE, GPU_MASK, gpu_mix, gpu_ring, gpu_strays

GPU_SPARE = 64
"""The first attempt to allocate memory leaves 1/64 of the free memory to the driver."""

GPU_STRETCH = 1 << 12
"""Number of 16-byte words in 64 KiB; a launch starts at a multiple of this number.

A kernel launch whose first address is not at the start of a cache line is up to 40 % slower (H100).
"""


GPU_PAST_L2 = 4
"""At least this many times the size of the L2 cache is read between a write and the read that checks it.

One size would evict what was written if the cache replaced the oldest lines first, and kept each line once. Neither is
documented, so 4 is a choice.
"""

GPU_LEAST_L2 = 4 * GPU_PAST_L2
"""The memory under test is at least this many times as large as the L2 cache, so that other memory can evict a part."""

GPU_COPIES = 0.25
"""Maximum share of the stage in which copies are measured: the patterns need the rest; a choice."""

GPU_CACHED = 4
"""The test `cache` reads what was written last: the size of the L2 cache, divided by this number."""


class GpuMemory:
    """Nearly all free memory of a GPU, in one piece if possible.

    `pieces` is a list of allocations: (pointer, number of 16-byte words in the previous allocations, number of 16-byte
    words). `total` is the memory that CUDA lists, and `unused` what of it was free before, in bytes.
    """

    def __init__(self, driver: "CudaDriver", share: float = 1.0, l2: int = 0) -> None:
        """Allocate `share` of the free memory; raises CudaTrouble if it is too little for an L2 cache of `l2` bytes."""
        self._driver = driver
        free, self.total = driver.memory()
        self.unused = free
        self.pieces: List[Tuple[int, int, int]] = []
        self.places = 0
        left = int((free - free // GPU_SPARE) * share) // 4096 * 4096
        ask, least = left, max(left // 256, 4096)
        while left >= least and ask >= least:
            try:
                at = driver.take(min(ask, left))
            except CudaTrouble as trouble:
                if trouble.code != CUDA_NO_MEMORY:
                    raise
                ask = ask * 15 // 16 // 4096 * 4096
                continue
            size = min(ask, left)
            self.pieces.append((at, self.places, size // GPU_LINE))
            self.places += size // GPU_LINE
            left -= size
        if not self.pieces or self.places * GPU_LINE < GPU_LEAST_L2 * l2:
            self.free()
            more = "; the test needs %d times the L2 cache (%d B)" % (GPU_LEAST_L2, l2) if self.places else ""
            raise CudaTrouble("cuMemAlloc_v2", CUDA_NO_MEMORY, "%d B are free%s" % (free, more))

    def coverage(self) -> float:
        """Return the allocated share of the memory that CUDA lists."""
        return float(self.places * GPU_LINE) / self.total

    def free(self) -> None:
        """Free the memory."""
        for at, _, _ in self.pieces:
            self._driver.call("cuMemFree_v2", at)


class GpuPasses:
    """Passes of kernels over the memory under test, from the lowest address to the highest or the other way.

    A pass ends early, and returns False, if the time `until` is reached.
    """

    def __init__(
        self, bench: "GpuBench", memory: "GpuMemory", tally: "GpuTally", writer: "GpuRecordWriter", until: float
    ) -> None:
        self.bench, self.tally, self.until = bench, tally, until
        self._writer, self._places = writer, memory.places
        self.stream, self.slots = bench.stream(), bench.slots(2)
        self._pieces = sorted(memory.pieces)
        self._pace = {kernel: GpuPace(1 << 20, memory.places) for kernel in ("fill", "march", "verify")}

    def over(self, kernel: str, test: str, now: int, flip: int, down: bool = False) -> "GpuWork":
        """Run one kernel over all memory; return whether it covered all memory before the time ended."""
        pending: Deque[Tuple[Any, int]] = deque()
        free = list(self.slots)
        todo = list(self._pieces) if down else self._pieces[::-1]
        while todo or pending:
            if todo and free and self.bench.clock() < self.until:
                at, first, places = todo.pop()
                count = min(max(self._pace[kernel].next() // GPU_STRETCH, 1) * GPU_STRETCH, places)
                rest = places - count
                if down:
                    rest = rest // GPU_STRETCH * GPU_STRETCH
                    count, part = places - rest, (at + rest * GPU_LINE, first + rest)
                    left = (at, first, rest)
                else:
                    part, left = (at, first), (at + count * GPU_LINE, first + count, rest)
                if rest:
                    todo.append(left)
                slot = free.pop()
                self._go(slot, kernel, part, count, now, flip, down)
                pending.append((slot, count))
                continue
            if not pending:
                return False
            slot, count = pending.popleft()
            seconds = yield from self._came(slot, kernel, test, count, now, flip)
            free.append(slot)
            self._pace[kernel].took(count, seconds)
        return True

    def cached(self, now: int, flip: int) -> "GpuWork":
        """Verify what the last pass, from the lowest address to the highest, wrote last: the L2 cache still has it."""
        at, first, places = self._pieces[-1]
        skip = max(0, places - self.bench.l2 // GPU_CACHED // GPU_LINE) // GPU_STRETCH * GPU_STRETCH
        self._go(self.slots[0], "verify", (at + skip * GPU_LINE, first + skip), places - skip, now, flip)
        yield from self._came(self.slots[0], "verify", "cache", places - skip, now, flip)

    def evict(self, low: bool) -> "GpuWork":
        """Read so much memory at the lowest or the highest addresses that the L2 cache loses what it had before."""
        left = GPU_PAST_L2 * self.bench.l2 // GPU_LINE
        for at, _, places in self._pieces if low else self._pieces[::-1]:
            if left <= 0:
                return
            skip = 0 if low else max(0, places - left) // GPU_STRETCH * GPU_STRETCH
            count = min(left, places) if low else places - skip
            words = ctypes.c_uint64(at + skip * GPU_LINE), ctypes.c_uint64(count)
            self.bench.go(self.slots[0], self.stream, "checksum", *words)
            yield from self.bench.wait(self.slots[0], "checksum")
            left -= count

    def keep(self, seconds: float) -> "GpuWork":
        """Leave the memory alone for some seconds."""
        begun = self.bench.clock()
        while self.bench.clock() < begun + seconds:
            yield

    def _go(
        self, slot: Any, kernel: str, part: Tuple[int, int], count: int, now: int, flip: int, down: bool = False
    ) -> None:
        words = [ctypes.c_uint64(x) for x in (*part, count, now, flip)]
        grid = 0
        if kernel == "march":  # with more blocks than run at the same time, the others would begin again at one end
            each, grid = 8 * self.bench.threads, self.bench.blocks("march")
            words.append(ctypes.c_uint64((count - 1) // each * each + 1 if down else 0))
        self.bench.go(slot, self.stream, kernel, *words, grid=grid, report=kernel != "fill")

    def _came(self, slot: Any, kernel: str, test: str, count: int, now: int, flip: int) -> "GpuWork":
        """Wait for a launch; report what it found, and return its seconds."""
        seconds, report = yield from self.bench.wait(slot, test)
        found, ring = gpu_ring(report) if report else (0, [])
        value = None if kernel == "fill" else found
        self.tally.add(test, "B", count * GPU_LINE * (2 if kernel == "march" else 1), seconds, value)
        if found:
            report_gpu_memory(self._writer, self.tally.stage, test, now, flip, self._places, ring, found)
        return seconds


def gpu_memory_work(
    bench: "GpuBench", memory: "GpuMemory", tally: "GpuTally", writer: "GpuRecordWriter", seed: int, until: float,
    hold: float = 0.0, warm: float = 0.0,
) -> "GpuWork":  # fmt: skip
    """March over memory up and down: fill it, verify and invert it in both orders, verify it; repeat with new seeds.

    Before a pass begins where the last one ended, other memory is read, so that the pass does not read from the L2
    cache. In the first round, the pattern and its complement are kept for `hold` seconds each (test `retention`).
    After the first round, copies are measured for `warm` seconds, but for at most GPU_COPIES of the time. Wrong
    16-byte words are reported with their addresses.
    """
    passes, rounds, begun = GpuPasses(bench, memory, tally, writer, until), 0, bench.clock()
    most = GPU_COPIES * (until - begun)
    while bench.clock() < until:
        now = gpu_mix((seed + rounds) & GPU_MASK)
        wait = 0.0 if rounds else hold
        if not (yield from passes.over("fill", "fill", now, 0)):
            break
        if rounds == 0:
            if "place" in bench.inject:
                at, first, _ = next(p for p in memory.pieces if p[1] <= bench.inject["place"] < p[1] + p[2])
                at += (bench.inject["place"] - first) * GPU_LINE
                words = [ctypes.c_uint64(at), ctypes.c_uint64(bench.inject["flip"]), ctypes.c_uint64(0)]
                bench.go(passes.slots[0], passes.stream, "flip_bits", *words, grid=1, report=False)
            yield from gpu_sum_work(bench, memory, tally, passes.slots[0], passes.stream)
        if wait:
            yield from passes.evict(low=True)
            yield from passes.keep(wait)
        if not (yield from passes.over("march", "retention" if wait else "march", now, 0)):
            break
        yield from passes.cached(now, GPU_MASK)
        yield from passes.evict(low=True)
        yield from passes.keep(wait)
        if not (yield from passes.over("march", "retention" if wait else "march down", now, GPU_MASK, down=True)):
            break
        yield from passes.evict(low=False)
        if not (yield from passes.over("verify", "verify", now, 0)):
            break
        rounds += 1
        tally.add("rounds", "rounds", 1, 0.0)
        share = round(memory.coverage(), 4)
        tally.add_fields("rounds", seconds=bench.clock() - begun, coverage=share)
        sizes = {"tested": memory.places * GPU_LINE, "total": memory.total, "free": memory.unused}
        tally.add_fields("verify", coverage=share, seed=seed, **sizes)
        if wait:
            tally.add_fields("retention", waited=wait)
        if rounds == 1:
            ends = min(until, bench.clock() + most)
            yield from gpu_copy_work(bench, memory, tally, passes.slots[0], passes.stream, warm, ends)


def gpu_copy_work(
    bench: "GpuBench", memory: "GpuMemory", tally: "GpuTally", slot: Any, stream: Any, warm: float, until: float
) -> "GpuWork":
    """Copy within the largest piece until the rate was measured for `warm` seconds, or until `until`.

    The rate is the reference for the rates of fill, march and verify.
    """
    at, _, places = max(memory.pieces, key=lambda piece: piece[2])
    half = places // 2 // GPU_STRETCH * GPU_STRETCH or places // 2
    pace, launches = GpuPace(1 << 20, half), 0
    while launches < 2 or (tally.measured("copy") < warm and bench.clock() < until):
        count, launches = pace.next(), launches + 1
        words = [ctypes.c_uint64(x) for x in (at + half * GPU_LINE, at, count)]
        bench.go(slot, stream, "copy", *words, report=False)
        seconds, _ = yield from bench.wait(slot, "copy")
        pace.took(count, seconds)
        tally.add("copy", "B", count * GPU_LINE * 2, seconds)


def gpu_sum_work(bench: "GpuBench", memory: "GpuMemory", tally: "GpuTally", slot: Any, stream: Any) -> "GpuWork":
    """Compute the checksum of the first 16 MiB of the pattern; with the same seed, it must be the same on every GPU."""
    at, _, places = memory.pieces[0]
    count = min(places, 1 << 20)
    bench.go(slot, stream, "checksum", ctypes.c_uint64(at), ctypes.c_uint64(count))
    seconds, report = yield from bench.wait(slot, "checksum")
    tally.add("checksum", "B", count * GPU_LINE, seconds)
    tally.add_fields("checksum", hash="%016x" % struct.unpack_from("<Q", report, 8)[0])


def report_gpu_memory(
    writer: "GpuRecordWriter",
    stage: str,
    test: str,
    seed: int,
    flip: int,
    places: int,
    ring: "Sequence[Any]",
    found: int,
) -> None:
    """Report wrong 16-byte words of GPU memory; `found` is their number, and `ring` describes the first of them."""
    for stray in gpu_strays(seed, flip, places, ring):
        name = stray.pop("name")
        if name == "alias":
            key: Tuple[Any, ...] = (int(stray["address"], 16) ^ int(stray["other"], 16),)
        else:
            key = (stray["address"],)
        if len(ring) < found:
            stray["found"] = found
        pattern = "complement" if flip else "address"
        writer.error(stage, test, name, key, seed=seed, pattern=pattern, **stray)
