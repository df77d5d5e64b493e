"""Runs on the node: decides how long the driver may take to list the GPUs, and whether it starts slowly or hangs."""

from typing import TYPE_CHECKING, Any, Callable, Dict, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.nvml_driver import nvml_on_bus


class GpuListing:
    """The sampler's progress in listing the GPUs; all times are in seconds.

    `ready` is the time by which the GPUs must be listed: the plan's `ready`, and its `ready_gpu` for each NVIDIA GPU on
    the PCI bus, but at most `ready_most`. `deadline` is the plan's deadline, with the delay of a late list added, and
    with the delay of the GPU that starts last. It is at most `latest`.
    """

    def __init__(self, plan: Dict[str, Any], clock: Callable[[], float]) -> None:
        self._plan, self._clock = plan, clock
        self._doing, self._index, self._since = "", 0, 0.0
        self.listed, self._listed_at = False, plan["deadline"]
        self.short = float(plan["ready"])
        more = plan.get("ready_gpu", 0.0) * (nvml_on_bus(plan.get("root", "")) or 0)
        self.ready = float(min(self.short + more, max(self.short, plan.get("ready_most", 0.0))))
        self.deadline = plan["deadline"] + self.ready - self.short
        self.latest = plan["deadline"] + max(0.0, plan.get("ready_most", 0.0) - self.short)

    def progress(self, doing: str, index: int) -> None:
        """Note that the sampler begins to `open` or to `describe` a GPU; `doing` is empty if it does neither."""
        self._doing, self._index, self._since = doing, index, self._clock()

    def done(self) -> None:
        """Note that the GPUs are listed."""
        self.listed = True
        self.deadline = self._listed_at = self._plan["deadline"] + max(0.0, self._clock() - self.short)

    def started(self, late: float) -> None:
        """Note that a GPU's stages begin later by `late` seconds, in which the driver started and compiled kernels."""
        self.deadline = max(self.deadline, min(self._listed_at + late, self.latest))

    def late(self) -> bool:
        """Return whether the GPUs are not listed in time.

        Opening a GPU may take seconds, and may initialise other GPUs too. Describing an open GPU is
        fast: while a GPU is described, the list is late only if this takes longer than the plan's `ready`.
        """
        if self._doing == "describe":
            return self._clock() - self._since > self.short
        return self._clock() > self.ready

    def why(self) -> Tuple[str, str]:
        """Return the GPU that hangs, such as `gpu/3` (empty if the driver starts slowly), and why no GPU is tested."""
        if self._doing == "describe":
            of = f"gpu/{self._index}"
            return of, f"hang: NVML opened {of}, and did not describe it within {self.short:g} s"
        at = f"; gpu/{self._index} is being opened" if self._doing == "open" else ""
        return "", f"slow start: the driver did not list the GPUs within {self.ready:g} s{at}"
