"""Runs on the node: does a plan, and samples beside it."""

import os
import signal
import sys
import threading
import types
from typing import TYPE_CHECKING, Any, Dict, Optional

if TYPE_CHECKING:
    from rackcheck.burnin.node.nvml_gpus import Gpus
    from rackcheck.burnin.node.supervisor import PlanDict, Supervisor
    from rackcheck.burnin.node.telemetry import Sampler

LAST = 0.5
"""Seconds that the sampler has for its last row; less than the grace of a child."""


def sample(line: Any, stop: threading.Event, source: bytes, wanted: bool, root: str = "") -> None:
    """Be the sampler's process: say which GPUs there are, refuse those that others use, then sample to the end."""
    nvml: Optional[Any] = None
    if source:
        nvml = types.ModuleType("pynvml")
        sys.modules["pynvml"] = nvml
        exec(source, vars(nvml))  # noqa: S102  it came with us
    gpus = Gpus(nvml, line.tell, line.clock, root)
    found = gpus.hello()
    foreign = gpus.foreign(set()) if found and wanted else {}
    line.tell("about", gpus=found, troubles=gpus.troubles)
    refused = {str(index): f"foreign process: {who}" for index, who in foreign.items()}
    for trouble in gpus.troubles:  # whose processes cannot be told may be somebody's
        kind, _, index = trouble["of"].partition("/")
        if kind == "gpu" and index in found:
            refused.setdefault(index, trouble["why"])
    line.ask(gpus=sorted(found), refused=refused)
    sampler = Sampler(gpus, line.tell, line.clock, stop, lambda index, _temp, _limit: line.ask(hot=str(index)))
    sampler.start()
    while not stop.wait(0.1) and sampler.is_alive():
        pass
    sampler.join(LAST)  # its last row holds the counters as they are at the end


def main(plan: "PlanDict", carried: Dict[str, Any], began: float) -> None:
    """Do a plan on this node; the exit says whether it ran whole."""
    os.environ["CUDA_CACHE_DISABLE"] = "1"
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    before = os.get_blocking(1)
    os.set_blocking(1, False)
    try:
        whole = Supervisor(plan, carried, began, 1, 0).run()
    finally:
        os.set_blocking(1, before)
    sys.exit(0 if whole else 1)
