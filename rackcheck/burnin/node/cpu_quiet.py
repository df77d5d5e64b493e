"""Keeps the load of the CPU stages on the host's memory apart, on the node, from the copies of GPUs to the host.

The supervisor asks for quiet before the first GPU copies (gpu_quiet.py). A stage that loads memory then stops, and is
repeated in full after the copies; a stage that would begin waits.
"""

import threading
from typing import Any, Callable, Dict, List, Optional

CPU_HEAVY = ("triad", "ram")
"""The stages that load the host's memory."""

CPU_REST = 0.5
"""A stage that ends within this many seconds is not stopped: the copies wait for its end. A choice."""


class CpuRecords:
    """The records of a stage about its results, until it is known whether they count; others are written at once."""

    def __init__(self, emit: Callable[..., None]) -> None:
        self._emit, self.errors = emit, 0
        self._stages: List[Dict[str, Any]] = []

    def emit(self, kind: str, **fields: Any) -> None:
        """Keep a record about a result, and write any other record."""
        if kind == "stage":
            self._stages.append(fields)
            return
        self.errors += kind == "error"
        self._emit(kind, **fields)

    def pass_on(self) -> None:
        """Write the records that were kept."""
        for fields in self._stages:
            self._emit("stage", **fields)


class CpuQuiet:
    """Whether the host's memory must not be under load; `cut` is set if the stage that runs must stop for this.

    `answer` is called with the number of a request for quiet when no stage loads the memory, also from other threads.
    """

    def __init__(self, clock: Callable[[], float], answer: Callable[[int], None]) -> None:
        self._clock, self._answer = clock, answer
        self._lock, self._free = threading.Lock(), threading.Event()
        self._free.set()
        self._request = 0
        self._until: Optional[float] = None
        self.cut = False

    def order(self, words: Dict[str, Any]) -> None:
        """Handle an order of the supervisor: `quiet` is the number of a request, or 0 if the copies have ended."""
        with self._lock:
            self._request = int(words["quiet"])
            if not self._request:
                self._free.set()
                return
            self._free.clear()
            if self._until is None:
                self._answer(self._request)
            elif self._clock() < self._until - CPU_REST:
                self.cut = True

    def begin(self, until: float, stop: threading.Event) -> Optional[float]:
        """Wait while GPUs copy; return the seconds by which a stage begins later, and None if it must not begin.

        The stage is planned to begin now, and to end at `until`.
        """
        since = self._clock()
        while not stop.is_set():
            if not self._free.wait(0.05):
                continue
            with self._lock:
                if self._free.is_set():
                    late = self._clock() - since if self._clock() - since > 0.01 else 0.0
                    self._until, self.cut = until + late, False
                    return late
        return None

    def end(self) -> bool:
        """Note that the stage has ended; return whether it was stopped for the copies."""
        with self._lock:
            cut, self.cut, self._until = self.cut, False, None
            if self._request:
                self._answer(self._request)
            return cut
