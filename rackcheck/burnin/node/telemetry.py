"""Runs on the node: samples the GPUs and the node during the load, at fixed times."""

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackcheck.burnin.node.kernel_log import KernelLog
    from rackcheck.burnin.node.node_reader import NodeReader
    from rackcheck.burnin.node.nvml_about import HOT_BELOW
    from rackcheck.burnin.node.nvml_gpus import Gpus
    from rackcheck.burnin.node.nvml_rows import nvml_counters, nvml_quick

SAMPLE_PERIOD = 0.1
"""Seconds between two samples of a GPU; its counters are read with every tenth sample."""
XIDS_MOST = 64
"""Maximum number of kernel log lines that are reported about one GPU."""
HANGS_AFTER = 5.0
"""Seconds without an answer to a query after which NVML counts as hanging."""
UNREAD_MOST = 10
"""Number of samples in a row without a margin that earlier samples had, after which the load must end. A choice."""
THROTTLES = (0x8, 0x20, 0x40, 0x80)
"""Event reasons that are findings: hardware slowdown, software thermal, hardware thermal, hardware power brake."""
HARDWARE = 0x8 | 0x40 | 0x80


class Sampler(threading.Thread):
    """Samples GPUs every 0.1 s and the node every second until `stop` is set; the last sample has all counters.

    The counters of the first sample are from before the load, and those of the last sample from after it.
    `on_hot(index, temp, limit)` is called once when a GPU or its memory is within 2 C of its limit; NVML
    reports no temperature of the hottest spot of the chip. `on_reasons(index, bits)` is called when a GPU has a kind of
    hardware slowdown for the first time. `on_unguarded(index, why)` is called when the margin to a limit, which was
    read before, cannot be read any more. Call hello() of `gpus` before the sampler starts. `skipped` is the number of
    samples that were left out because an earlier sample took too long.
    """

    def __init__(
        self, gpus: "Gpus", emit: "Any", clock: "Any", stop: "Any", on_hot: "Any" = None, on_reasons: "Any" = None,
        on_unguarded: "Any" = None,
    ) -> "None":  # fmt: skip
        threading.Thread.__init__(self, name="telemetry")
        self.daemon = True
        self.gpus, self.begun, self.skipped = gpus, 0.0, 0
        self._emit, self._clock, self._stop_event = emit, clock, stop
        self._on_hot, self._on_reasons, self._on_unguarded = on_hot, on_reasons, on_unguarded
        self._node = NodeReader(clock, gpus.root)
        self._log = KernelLog(gpus.root + "/dev/kmsg")
        self._xids: Any = {}
        self._due: Any = {}
        self._unread: Any = {}
        self._reported: Any = set()

    def run(self) -> "None":
        """Sample at fixed times; a sample that is due before an earlier one is finished is skipped."""
        node = threading.Thread(target=self._watch_node, name="telemetry-node")
        node.daemon = True
        self.gpus.begin()
        node.start()
        self.begun, number = self._clock(), 0
        while self.gpus.alive() and not self._stop_event.is_set():
            self.round(number)
            due = int((self._clock() - self.begun) / SAMPLE_PERIOD) + 1
            self.skipped += due - number - 1
            number = due
            self._stop_event.wait(max(0.0, self.begun + number * SAMPLE_PERIOD - self._clock()))
        self._stop_event.wait()
        node.join(0.3)
        self.round(number, last=True)

    def round(self, number: "int", last: "bool" = False) -> "None":
        """Sample each GPU once; in the first and last round and once a second, also read its counters.

        Except in the first and last round, the counters of different GPUs are normally read in different rounds.
        """
        for index in self.gpus.alive():
            value = nvml_quick(self.gpus, index)
            if last or number >= self._due.get(index, 0):
                every = round(1 / SAMPLE_PERIOD)
                self._due[index] = number - number % every + every + index % every
                value.update(nvml_counters(self.gpus, index))
                if self._log.readable and index in self.gpus.places:
                    value["xids"] = self._xids.get(index, 0)
            if index not in self.gpus.lost:
                self._guard(index, value)
            if index not in self.gpus.lost and value:
                self._emit("sample", of=f"gpu/{index}", **value)
                self._judge(index, value)

    def _guard(self, index: "int", value: "Any") -> "None":
        """Call `on_unguarded` if a margin to a limit can no longer be read: nothing would end the load at the limit."""
        for name, what in (("below", "slowdown temperature"), ("memory_below", "highest temperature of its memory")):
            unread = self._unread.get((index, name), -1)
            if name in value:
                self._unread[index, name] = 0
            elif unread >= 0:
                self._unread[index, name] = unread + 1
                if unread + 1 == UNREAD_MOST and self._on_unguarded:
                    self._on_unguarded(index, f"stopped: how far the GPU is below the {what} cannot be read any more")

    def _judge(self, index: "int", value: "Any") -> "None":
        """Report a hot or throttled GPU, and call the callbacks."""
        sensor = "memory_temp" in value and index not in self.gpus.memory_margin
        memory = (value.get("memory_temp"), "temperature") if sensor else (value.get("temp"), "limit")
        for temp, below, more in (
            (value.get("temp"), value.get("below"), {}),
            (memory[0], value.get("memory_below"), {"said": f"the {memory[1]} of the memory"}),
        ):
            if temp is None or below is None or below > HOT_BELOW or ("hot", index) in self._reported:
                continue
            self._reported.add(("hot", index))
            limit = temp + below - HOT_BELOW
            self.gpus.error(index, "hot", temp=temp, limit=limit, **more)
            if self._on_hot:
                self._on_hot(index, temp, limit)
        new = [bit for bit in THROTTLES if value.get("reasons", 0) & bit and (bit, index) not in self._reported]
        for bit in new:
            self._reported.add((bit, index))
            self.gpus.error(index, "throttle", reasons=bit)
        if self._on_reasons and any(bit & HARDWARE for bit in new):
            self._on_reasons(index, sum(bit for bit in new if bit & HARDWARE))

    def _watch_node(self) -> "None":
        """Sample the node every second, in a separate thread because files may be slow to read."""
        begun, number = self._clock(), 0
        while not self._stop_event.is_set():
            self.node_round()
            number = max(number + 1, int(self._clock() - begun) + 1)
            self._stop_event.wait(max(0.0, begun + number - self._clock()))
        self.node_round(last=True)

    def node_round(self, last: "bool" = False) -> "None":
        """Sample the node and its RDMA ports once; also report new Xids, and a hang if NVML does not respond."""
        for place, xid, line in self._log.xids():
            index = next((each for each, known in self.gpus.places.items() if known == place), None)
            seen = self._xids[index] = self._xids.get(index, 0) + 1
            if seen <= XIDS_MOST:
                of = "node" if index is None else f"gpu/{index}"
                self._emit("error", of=of, stage="", name="xid", xid=xid, line=line)
        asking = self.gpus.asking
        if asking and self._clock() - asking[2] > HANGS_AFTER and asking not in self._reported:
            self._reported.add(asking)
            self.gpus.error(asking[0], "hang", said=f"{asking[1]}: no answer for {HANGS_AFTER:g} s")
        for of, value in self._node.read(last):
            if value:
                self._emit("sample", of=of, **value)
