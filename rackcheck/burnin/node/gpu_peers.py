# ruff: noqa: UP031  for a node: Python 3.6, and one namespace for all files
"""The process that copies between the GPUs of a node, on the node: one process with the contexts of all GPUs.

The supervisor orders the pairs (gpu_turns.py). After a fault, the driver cannot be trusted in this process: it reports
the pair and ends, and another process tests the other pairs. Unverified on hardware.
"""

import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence

if TYPE_CHECKING:
    from rackcheck.burnin.node.cuda import CUDA_NO_MEMORY, CudaDriver, CudaTrouble
    from rackcheck.burnin.node.gpu import GPU_HANG, gpu_environment, gpu_seed, gpu_watch
    from rackcheck.burnin.node.gpu_bench import (
        GPU_LEAST,
        GPU_WARM,
        GpuBench,
        GpuHang,
        GpuRecordWriter,
        GpuTally,
        GpuWork,
    )
    from rackcheck.burnin.node.gpu_links import gpu_peer_work
    from rackcheck.burnin.node.gpu_parts import GpuDevices, GpuPart, GpuUnable
    from rackcheck.burnin.node.gpu_truth import GPU_REPORT

GPU_STOPPING = 0.3
"""Seconds that the process has to end after it was asked to stop: less than the grace period of a child."""

GPU_AGAIN_OPEN = 0.5
"""Seconds after which a GPU that had no memory for a context is tried again."""


class GpuWay:
    """The copies from the first to the second GPU of `way`; `of` is their name in the records, such as `peer/0-1`."""

    def __init__(
        self, pair: Sequence[int], way: Sequence[int], emit: Callable[..., None], begun: float, least: float
    ) -> None:
        self.pair, self.of, self.why = list(pair), "peer/%d-%d" % tuple(way), ""
        self.name = "from gpu/%d to gpu/%d" % tuple(way)
        self.tally, self.writer = GpuTally(self.of, "links", begun, least), GpuRecordWriter(self.of, emit)


class GpuPeers:
    """Runs the copies. `send` reports to the supervisor, `order` returns its next order, or None at the end.

    `closed` are the GPUs without a context yet, because another process tests their memory.
    """

    def __init__(
        self, plan: Dict[str, Any], emit: Callable[..., None], clock: Callable[[], float], stop: threading.Event,
        blobs: Dict[str, bytes], parts: Mapping[int, "GpuPart"], send: Callable[..., None],
        order: Callable[[float], Optional[Dict[str, Any]]],
    ) -> None:  # fmt: skip
        self.plan, self.emit, self.clock, self.stop = plan, emit, clock, stop
        self.blobs, self.parts, self.send, self.order = blobs, parts, send, order
        self.benches: Dict[int, GpuBench] = {}
        self.closed: List[int] = []
        self.opening = -1
        self.way: Optional[GpuWay] = None
        self.under_way: List[List[int]] = []

    def run(self, library: str) -> None:
        """Create the contexts and load the kernels of all GPUs, and then copy between them as ordered."""
        gpu_environment()
        try:
            self._open(library)
        except CudaTrouble as trouble:
            self.send(dead=trouble.why(), ends=True)
            return
        while True:
            order = self.order(GPU_AGAIN_OPEN if self.closed else float("inf"))
            if order is None:
                return
            if "end" in order:
                for bench in self.benches.values():
                    bench.leave()
                return
            self._open_all(bool(order))
            if not order:
                continue
            rounds, begun = order["rounds"], self.clock()
            for number, pairs in enumerate(rounds):
                ends = begun + (order["until"] - begun) * (number + 1) / len(rounds)
                self.send(round=pairs)
                self._round(pairs, ends)
                if self.stop.is_set():
                    return

    def _open(self, library: str) -> None:
        driver = CudaDriver(library, self.clock)
        threading.Thread(target=gpu_watch, args=(driver, self.plan, self.clock, self._late), daemon=True).start()
        threading.Thread(target=self._leave, daemon=True).start()
        self.driver, self.devices = driver, GpuDevices(driver, driver.start(), self.parts)
        self.closed = [index for index in self.devices.peers if index not in self.plan.get("without", ())]
        self._open_all(False)

    def _open_all(self, last: bool) -> None:
        """Open all GPUs that are not open; one that has no memory is tried again later, except with `last`."""
        hang, closed = float(self.plan.get("hang", GPU_HANG)), self.closed
        self.closed = []
        for index in closed:
            if self.stop.is_set():
                return
            self.opening = index
            try:
                device = self.devices.device(index)
                self.benches[index] = GpuBench(
                    self.driver, index, device, self.blobs, self.clock, self.stop, GPU_REPORT, hang
                )
            except GpuUnable as unable:
                self.send(out=index, why=str(unable))
            except CudaTrouble as trouble:
                if trouble.code == CUDA_NO_MEMORY and not last:
                    self.closed.append(index)
                else:
                    self.send(out=index, why=trouble.why())
        self.opening = -1

    def _round(self, pairs: Sequence[List[int]], until: float) -> None:
        """Copy between the GPUs of several pairs at the same time, in both directions; no GPU is in two pairs."""
        seed, warm = gpu_seed(self.plan, "links"), float(self.plan.get("warm", GPU_WARM))
        ways: List[GpuWay] = []
        work: Dict[GpuWay, GpuWork] = {}
        for pair in pairs:
            if not all(index in self.benches for index in pair):
                continue  # the supervisor reports the pair as not tested
            for ends in (pair, pair[::-1]):
                made = GpuWay(pair, ends, self.emit, self.clock(), GPU_LEAST * warm)
                first, second = (self.benches[index] for index in ends)
                work[made] = gpu_peer_work(first, second, made.tally, made.writer, seed, until, warm)
                ways.append(made)
            self.under_way.append(pair)
        while work and not self.stop.is_set():
            for way in [each for each in ways if each in work]:
                self.way = way
                try:
                    next(work[way])
                    continue
                except StopIteration:
                    pass
                except GpuHang as hang:
                    self._hung(way, "%s (%s)" % (hang, way.name))
                except CudaTrouble as trouble:
                    if trouble.faulty():
                        self._broken(way, trouble.name(), "%s, in a copy %s" % (trouble, way.name), code=trouble.code)
                    way.why = trouble.why()
                del work[way]
                if not any(other.pair == way.pair for other in work):
                    self._end([each for each in ways if each.pair == way.pair])
            self.stop.wait(0.0002)
        self.way = None

    def _end(self, ways: Sequence[GpuWay]) -> None:
        for way in ways:
            way.tally.emit(self.emit, way.why)
            if way.why and not way.tally.tests:
                self.emit("stage", of=way.of, stage="links", test="", status="not tested", why=way.why)
        for index in ways[0].pair:
            self.benches[index].tidy()
        self.under_way.remove(ways[0].pair)
        self.send(pair=ways[0].pair)

    def _hung(self, way: GpuWay, error: str) -> None:
        """Report a copy that hangs, and end; if other pairs have not ended either, any of them may be the cause.

        The pairs of a round share the driver, its thread and the links, so the first copy that is late need not be the
        one that blocks. The next process copies between one pair at a time, which shows which one hangs.
        """
        if len(self.under_way) > 1:
            self.send(hung=error)
            os._exit(3)
        self._broken(way, "hang", error)

    def _broken(self, way: GpuWay, name: str, error: str, **more: Any) -> None:
        way.writer.error("links", "copy", name, (error,), said=error, **more)
        self.send(pair=way.pair, why="%s: %s" % ("hang" if name == "hang" else "lost", error), ends=True)
        os._exit(3)

    def _late(self, call: str, limit: float) -> None:
        error = "%s did not complete within %g s" % (call, limit)
        way = self.way
        if way is not None:
            self._hung(way, "%s (%s)" % (error, way.name))
        elif self.opening >= 0:
            self.send(out=self.opening, why="hang: %s" % error, ends=True)
        else:
            self.send(dead="slow start: %s" % error, ends=True)
        os._exit(3)

    def _leave(self) -> None:
        self.stop.wait()
        threading.Event().wait(GPU_STOPPING)
        os._exit(0)


def gpu_peers_child(
    plan: Dict[str, Any], emit: Callable[..., None], clock: Callable[[], float], stop: threading.Event,
    blobs: Dict[str, bytes], parts: Mapping[int, "GpuPart"], send: Callable[..., None],
    order: Callable[[float], Optional[Dict[str, Any]]], library: str = "libcuda.so.1",
) -> None:  # fmt: skip
    """Copy between the GPUs of a node as ordered; call this in a separate process.

    An order has `rounds`, lists of pairs of GPUs, and `until`, the time at which the last round may end; the last order
    is `end`. `send` reports `round` (its pairs) when a round begins, `pair` when a pair ended (with `why` if it has no
    result), `hung` if one of several pairs hangs, `out` and `why` for a GPU that cannot be used, `dead` if CUDA does
    not start, and with `ends` that the process ends because of this. The plan's `without` lists GPUs to leave alone.
    """
    GpuPeers(plan, emit, clock, stop, blobs, parts, send, order).run(library)
