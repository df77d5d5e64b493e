# ruff: noqa: UP031  for a node: Python 3.6, and one namespace for all files
"""Tests nearly all memory of a GPU on the node, repeatedly, with a new seed each time."""

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


class GpuMemory:
    """Nearly all free memory of a GPU, in one piece if possible.

    `pieces` is a list of allocations: (pointer, number of 16-byte words in the previous allocations, number of 16-byte
    words).
    """

    def __init__(self, driver: "CudaDriver", share: float = 1.0) -> None:
        """Allocate `share` of the free memory; raises CudaTrouble if nothing can be allocated."""
        self._driver = driver
        free, self.total = driver.memory()
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
        if not self.pieces:
            raise CudaTrouble("cuMemAlloc_v2", CUDA_NO_MEMORY, "%d B are free" % free)

    def coverage(self) -> float:
        """Return the allocated share of the GPU's total memory."""
        return float(self.places * GPU_LINE) / self.total

    def free(self) -> None:
        """Free the memory."""
        for at, _, _ in self.pieces:
            self._driver.call("cuMemFree_v2", at)


def gpu_memory_work(
    bench: "GpuBench", memory: "GpuMemory", tally: "GpuTally", writer: "GpuRecordWriter", seed: int, until: float
) -> "GpuWork":
    """Fill memory with a pattern, verify and invert it, verify it again; repeat this with new seeds.

    Wrong 16-byte words are reported with their addresses.
    """
    stream, slots = bench.stream(), bench.slots(2)
    pace = {name: GpuPace(1 << 20, memory.places) for name in ("fill", "march", "verify", "copy")}
    rounds, begun = 0, bench.clock()

    def over(name: str, now: int, flip: int) -> "GpuWork":
        """Run one kernel over all memory; return whether it covered all memory before the time ended."""
        pending: Deque[Tuple[Any, int]] = deque()
        free = list(slots)
        todo = [(at, first, places) for at, first, places in memory.pieces]
        while todo or pending:
            if todo and free and bench.clock() < until:
                at, first, places = todo.pop()
                count = min(max(pace[name].next() // GPU_STRETCH, 1) * GPU_STRETCH, places)
                if count < places:
                    todo.append((at + count * GPU_LINE, first + count, places - count))
                slot = free.pop()
                words = [ctypes.c_uint64(x) for x in (at, first, count, now, flip)]
                bench.go(slot, stream, name, *words, report=name != "fill")
                pending.append((slot, count))
                continue
            if not pending:
                return False
            slot, count = pending.popleft()
            seconds, report = yield from bench.wait(slot, name)
            free.append(slot)
            pace[name].took(count, seconds)
            found, ring = gpu_ring(report) if report else (0, [])
            value = None if name == "fill" else found
            tally.add(name, "B", count * GPU_LINE * (2 if name == "march" else 1), seconds, value)
            if found:
                report_gpu_memory(writer, tally.stage, name, now, flip, memory.places, ring, found)
        return True

    while bench.clock() < until:
        now = gpu_mix((seed + rounds) & GPU_MASK)
        for name, flip in (("fill", 0), ("march", 0), ("verify", GPU_MASK)):
            whole = yield from over(name, now, flip)
            if not whole:
                break
            if name == "fill" and rounds == 0 and "place" in bench.inject:
                at, first, _ = next(p for p in memory.pieces if p[1] <= bench.inject["place"] < p[1] + p[2])
                at += (bench.inject["place"] - first) * GPU_LINE
                words = [ctypes.c_uint64(at), ctypes.c_uint64(bench.inject["flip"]), ctypes.c_uint64(0)]
                bench.go(slots[0], stream, "flip_bits", *words, grid=1, report=False)
            if name == "fill" and rounds == 0:
                yield from gpu_sum_work(bench, memory, tally, slots[0], stream)
        else:
            rounds += 1
            tally.add("rounds", "rounds", 1, 0.0)
            tally.add_fields("rounds", seconds=bench.clock() - begun, coverage=round(memory.coverage(), 4))
            tally.add_fields("verify", coverage=round(memory.coverage(), 4), seed=seed)
            if rounds % 8 == 1:
                yield from gpu_copy_work(bench, memory, tally, slots[0], stream, pace["copy"])


def gpu_copy_work(
    bench: "GpuBench", memory: "GpuMemory", tally: "GpuTally", slot: Any, stream: Any, pace: "GpuPace"
) -> "GpuWork":
    """Measure copies within the largest piece; their rate is the reference for the rates of fill, march and verify."""
    at, _, places = max(memory.pieces, key=lambda piece: piece[2])
    half = places // 2 // GPU_STRETCH * GPU_STRETCH or places // 2
    for _ in range(4):
        count = min(pace.next(), half)
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
