# ruff: noqa: UP031  for a node: Python 3.6, and one namespace for all files
"""Tests the GPU's links, on the node: to the host's memory and, unverified on hardware, to other GPUs.

All copied data is verified.
"""

import ctypes
import struct
from typing import TYPE_CHECKING, Any, Callable, Dict, List

if TYPE_CHECKING:
    from rackcheck.burnin.node.gpu_bench import GPU_SLICE, GpuBench, GpuRecordWriter, GpuTally, GpuWork
    from rackcheck.burnin.node.gpu_truth import GPU_LINE, GPU_MASK, gpu_mix, gpu_pattern, gpu_ring, gpu_strays

GPU_COPY = 64 << 20
"""Size of one copy in bytes: large, so that its start does not affect the rate; smaller if little memory is free."""

GPU_QUEUED = 1024
"""Maximum number of copies that are queued at once."""


def gpu_copy_size(bench: "GpuBench") -> int:
    """Return the size of one copy in bytes, so that four copies fit in a quarter of the free memory."""
    free, _ = bench.driver.memory()
    return min(GPU_COPY, free // 16) // 4096 * 4096


class GpuCopies:
    """Copies of one kind on one stream, queued in batches of about GPU_SLICE seconds; the first batch is one copy."""

    def __init__(self, bench: "GpuBench", size: int) -> None:
        self._bench, self.size, self._times = bench, size, 1
        self.stream, self._begin, self._end = bench.stream(), bench.event(), bench.event()

    def go(self, copy: Callable[[Any], Any]) -> None:
        """Start the copies; `copy(stream)` queues one copy on a stream."""
        driver = self._bench.driver
        driver.call("cuEventRecord", self._begin, self.stream)
        for _ in range(self._times):
            copy(self.stream)
        driver.call("cuEventRecord", self._end, self.stream)

    def wait(self, what: str) -> "GpuWork":
        """Yield until the copies are complete; return their bytes and seconds."""
        yield from self._bench.until_come(self._end, what)
        seconds = max(self._bench.driver.seconds(self._begin, self._end), 1e-9)
        done, fit = self._times, int(self._times * GPU_SLICE / seconds)
        self._times = max(1, min(fit, done * 4, GPU_QUEUED))
        return done * self.size, seconds


def gpu_host_work(
    bench: "GpuBench", tally: "GpuTally", writer: "GpuRecordWriter", seed: int, until: float, warm: float = 0.0
) -> "GpuWork":
    """Copy a pattern to the host and back, each direction alone, then both at once; report the faulty direction.

    The copies end after `until`, and after each of the three rates was measured for `warm` seconds.
    """
    driver, size, slot = bench.driver, gpu_copy_size(bench), bench.slots(1)[0]
    source, target, host, other = bench.take(size), bench.take(size), bench.pinned(size), bench.pinned(size)
    down, up, both_down, both_up = [GpuCopies(bench, size) for _ in range(4)]
    places, rounds = ctypes.c_uint64(size // GPU_LINE), 0
    ways = {
        "d2h": (down, lambda stream: driver.call("cuMemcpyDtoHAsync_v2", host, source, size, stream)),
        "h2d": (up, lambda stream: driver.call("cuMemcpyHtoDAsync_v2", target, host, size, stream)),
    }

    def verified(test: str, now: int, between: Any) -> "GpuWork":
        """Verify the data that was copied back; the copy in host memory shows which direction changed a word."""
        words = [ctypes.c_uint64(target), ctypes.c_uint64(0), places, ctypes.c_uint64(now), ctypes.c_uint64(0)]
        bench.go(slot, up.stream, "verify", *words)
        _, report = yield from bench.wait(slot, "verify")
        found, ring = gpu_ring(report)
        hurt: Dict[str, List[Any]] = {"d2h": [], "h2d": []}
        for row in ring:
            held = struct.unpack("<2Q", ctypes.string_at(between.value + row[0] * GPU_LINE, GPU_LINE))
            hurt["h2d" if held == gpu_pattern(now, row[0]) else "d2h"].append(row)
        for way in sorted(hurt):
            report_gpu_copy(writer, tally.stage, way, now, size, hurt[way])
            if test == "both":
                continue
            tally.add(way, "B", 0, 0.0, len(hurt[way]) if found <= len(ring) else found)
        if test == "both":
            tally.add(test, "B", 0, 0.0, found)

    while rounds == 0 or bench.clock() < until or any(tally.measured(test) < warm for test in (*ways, "both")):
        now = gpu_mix((seed + rounds) & GPU_MASK)
        words = [ctypes.c_uint64(source), ctypes.c_uint64(0), places, ctypes.c_uint64(now), ctypes.c_uint64(0)]
        bench.go(slot, down.stream, "fill", *words, report=False)
        yield from bench.wait(slot, "fill")
        for test in ("d2h", "h2d"):
            copies, copy = ways[test]
            copies.go(copy)
            work, seconds = yield from copies.wait(test)
            tally.add(test, "B", work, seconds)
            tally.add_fields(test, seed=seed)
        yield from verified("h2d", now, host)
        both_down.go(lambda stream: driver.call("cuMemcpyDtoHAsync_v2", other, source, size, stream))
        both_up.go(ways["h2d"][1])
        first, low = yield from both_down.wait("both")
        second, high = yield from both_up.wait("both")
        tally.add("both", "B", first + second, max(low, high))
        driver.call("cuMemcpyHtoDAsync_v2", target, other, size, up.stream)
        yield from verified("both", now, other)
        rounds += 1


def report_gpu_copy(writer: "GpuRecordWriter", stage: str, way: str, seed: int, size: int, ring: "List[Any]") -> None:
    """Report the 16-byte words that a copy changed, by their offset from the beginning of the copy."""
    for stray in gpu_strays(seed, 0, size // GPU_LINE, ring):
        name = stray.pop("name")
        stray.pop("held", None)
        stray.pop("sm", None)
        writer.error(stage, way, name, (way, stray["address"]), seed=seed, pattern="address", **stray)


def gpu_peer_work(
    bench: "GpuBench", peer: "GpuBench", tally: "GpuTally", writer: "GpuRecordWriter", seed: int, until: float,
    warm: float,
) -> "GpuWork":  # fmt: skip
    """Copy a pattern from one GPU to another repeatedly, and verify it there; one process uses both GPUs.

    The copies end after `until`, and after their rate was measured for `warm` seconds. They are direct if the driver
    has access from the first GPU to the second; otherwise the driver copies through the host's memory.
    """
    driver = bench.driver
    peer.use()
    most = gpu_copy_size(peer)
    bench.use()
    size = min(most, gpu_copy_size(bench))
    places = ctypes.c_uint64(size // GPU_LINE)
    source, slot, copies = bench.take(size), bench.slots(1)[0], GpuCopies(bench, size)
    direct = driver.whole("cuDeviceCanAccessPeer", bench.device, peer.device)
    if direct:
        driver.call("cuCtxEnablePeerAccess", peer.context, 0, well=(0, 704))  # 704: already enabled
    peer.use()
    target, far_slot, far_stream = peer.take(size), peer.slots(1)[0], peer.stream()
    rounds = 0
    while rounds == 0 or bench.clock() < until or tally.measured("copy") < warm:
        now = gpu_mix((seed + rounds) & GPU_MASK)
        words = [places, ctypes.c_uint64(now), ctypes.c_uint64(0)]
        bench.use()
        bench.go(slot, copies.stream, "fill", ctypes.c_uint64(source), ctypes.c_uint64(0), *words, report=False)
        yield from bench.wait(slot, "fill")
        copies.go(
            lambda stream: driver.call(
                "cuMemcpyPeerAsync", target, peer.context, source, bench.context, size, stream
            )
        )  # fmt: skip
        work, seconds = yield from copies.wait("a copy to GPU %d" % peer.index)
        peer.use()
        peer.go(far_slot, far_stream, "verify", ctypes.c_uint64(target), ctypes.c_uint64(0), *words)
        _, report = yield from peer.wait(far_slot, "verify")
        found, ring = gpu_ring(report)
        tally.add("copy", "B", work, seconds, found)
        tally.add_fields("copy", seed=seed, direct=bool(direct))
        report_gpu_copy(writer, tally.stage, "copy", now, size, ring)
        rounds += 1
    if direct:  # a GPU may have access to only eight others at a time
        bench.use()
        driver.call("cuCtxDisablePeerAccess", peer.context, well=(0, 705))  # 705: not enabled
