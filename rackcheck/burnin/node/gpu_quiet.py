"""Decides, on the node, when GPUs may copy over their links: only while no CPU stage loads the host's memory.

The plan keeps the two apart, but the GPUs' stages begin later if the driver starts late, or if copies take long.
"""

from typing import Any, Dict, List, Set, Tuple

GPU_QUIET = 10.0
"""Seconds for which a GPU waits for the load on the host's memory to end; after them, no link of it is tested.

A stage of the CPU stops within 0.1 seconds, except in the last half second of its time, and while it verifies its
result, which takes at most five seconds (CPU_LAID in cpu_rates.py). It answers after it has returned its memory to the
kernel (cpu_free in cpu_ram.py), because this is load on the memory too, and takes longer the more memory there is: all
CPUs free their parts at once. Copies that were not quiet are tested again in the next stage `links`. A choice.
"""

GPU_LOUD = "contended: the load on the host's memory did not end before the copies"
"""Why the links of a GPU are not tested in a stage `links` after this time."""


class GpuQuiet:
    """The GPUs of a node that copy, or wait until they may, each with the number of its own request.

    A GPU that waited too long takes no answer to an earlier request of it for one to its present request.
    """

    def __init__(self) -> None:
        self._waiting: Dict[int, int] = {}
        self._copying: Set[int] = set()
        self._request, self._asked, self._quiet = 0, False, False

    def received(self, word: Dict[str, Any]) -> bool:
        """Handle a message of a GPU's process (`turn`) or of that of the CPU (`quiet`); return False for all others."""
        if word.get("turn") == "quiet":
            self._waiting[word["index"]] = word["request"]
        elif word.get("turn") == "loud":
            self._copying.discard(word["index"])
            self._waiting.pop(word["index"], None)
        elif "quiet" in word:
            self._quiet = self._asked and word["quiet"] == self._request
        else:
            return False
        return True

    def step(self, alive: Set[int], loaded: bool) -> List[Tuple[str, Any]]:
        """Return what must be done now, each with its argument, in order.

        `quiet`: ask the process of the CPU stages for quiet by the number of a request, or by 0 end the quiet; `copy`:
        let these GPUs copy, by the numbers of their requests. `alive` are the GPUs whose process runs, `loaded` is
        whether that of the CPU stages runs.
        """
        does: List[Tuple[str, Any]] = []
        self._waiting = {index: self._waiting[index] for index in sorted(self._waiting) if index in alive}
        self._copying &= alive
        wanted = bool(self._waiting or self._copying)
        if wanted != self._asked:
            self._asked, self._quiet = wanted, False
            self._request += wanted
            does.append(("quiet", self._request if wanted else 0))
        if self._waiting and (self._quiet or not loaded):
            does.append(("copy", self._waiting))
            self._copying |= set(self._waiting)
            self._waiting = {}
        return does
