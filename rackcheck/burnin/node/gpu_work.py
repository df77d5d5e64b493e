"""The work, on the node, of the processes that use GPUs: one for each GPU, and one that copies between GPUs."""

from typing import TYPE_CHECKING, Any, Callable, Dict, List

if TYPE_CHECKING:
    from threading import Event

    from rackcheck.burnin.node.gpu import gpu_child
    from rackcheck.burnin.node.gpu_peers import gpu_peers_child
    from rackcheck.burnin.node.gpu_quiet import GPU_LOUD, GPU_QUIET

GpuChildWork = Callable[[Any, "Event"], None]


class GpuLoad:
    """What these processes need: the plan, its start in seconds, the GPUs by index, and the kernels."""

    def __init__(
        self, plan: Dict[str, Any], base: float, parts: Dict[int, Dict[str, str]], blobs: Dict[str, bytes]
    ) -> None:
        self.plan, self.base, self.parts, self.blobs = plan, base, parts, blobs


def gpu_work(load: GpuLoad, index: int) -> GpuChildWork:
    """Return the function that the process of one GPU runs."""

    def work(line: Any, stop: "Event") -> None:
        request = 0

        def quiet() -> bool:
            """Wait for the answer to the present request; return False if it does not come in time."""
            end = line.clock() + load.plan.get("quiet", GPU_QUIET)
            while line.clock() < end:
                order = line.orders.next(max(0.0, end - line.clock()))
                if order is None or order.get("quiet") == request:
                    return True
            line.ask(skip=index, why=GPU_LOUD)
            return False

        def turn(**words: Any) -> bool:
            nonlocal request
            request += words["turn"] == "quiet"
            line.ask(index=index, request=request, **words)
            if words["turn"] == "links":
                while line.orders.next():  # an answer to `quiet` that came too late is no order to go on
                    pass
            return words["turn"] != "quiet" or quiet()

        late = shifted(load.plan, max(load.base, line.clock()))
        gpu_child(late, index, line.emit, line.clock, stop, load.blobs, parts=load.parts, turn=turn)

    return work


def peers_work(load: GpuLoad, without: List[int]) -> GpuChildWork:
    """Return the function that the process runs that copies between GPUs, except those in `without`."""

    def work(line: Any, stop: "Event") -> None:
        plan = dict(load.plan, without=without)
        gpu_peers_child(plan, line.emit, line.clock, stop, load.blobs, load.parts, line.ask, line.orders.next)

    return work


def shifted(plan: Dict[str, Any], base: float) -> Dict[str, Any]:
    """Return the plan with all stage times increased by `base`, the time at which the GPU is ready."""
    stages = [dict(s, **{"from": s["from"] + base, "until": s["until"] + base}) for s in plan["stages"]]
    return dict(plan, stages=stages)
