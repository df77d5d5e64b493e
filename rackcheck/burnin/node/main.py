"""Runs on the node: runs a plan, with the sampler as one of its processes."""

import json
import os
import signal
import socket
import sys
import threading
import time
import types
from typing import TYPE_CHECKING, Any, Dict, Optional

if TYPE_CHECKING:
    from rackcheck.burnin.node.node_accelerators import node_accelerators
    from rackcheck.burnin.node.nvml_gpus import Gpus
    from rackcheck.burnin.node.nvml_refusal import nvml_refused
    from rackcheck.burnin.node.supervisor import PlanDict, Supervisor
    from rackcheck.burnin.node.telemetry import Sampler

LEASE = "rackcheck-burnin"
"""Name of the lease of a node; RACKCHECK_LEASE replaces it for containers that share a kernel, but not their GPUs."""

LEASE_PATIENCE = 3.0
"""Seconds to wait for the lease: the processes of a burn-in whose controller was killed end within two seconds."""

LAST = 0.5
"""Seconds that the sampler has after a stop to take its last samples: less than the grace period of a child."""


def sample(line: Any, stop: threading.Event, source: bytes, wanted: bool, root: str = "") -> None:
    """Run the sampler: describe the accelerators, refuse GPUs that must not be tested, then take samples."""
    nvml: Optional[Any] = None
    if source:
        nvml = types.ModuleType("pynvml")
        sys.modules["pynvml"] = nvml
        exec(source, vars(nvml))  # noqa: S102  it is part of the payload
    gpus = Gpus(nvml, line.emit, line.clock, root, lambda doing, index: line.ask(doing=doing, index=index))
    found = gpus.hello()
    refused = nvml_refused(gpus, found) if wanted else {}
    line.emit("about", gpus=found, troubles=gpus.troubles, accelerators=node_accelerators(root))
    line.ask(gpus=found, refused=refused)
    sampler = Sampler(
        gpus, line.emit, line.clock, stop, lambda index, _temp, _limit: line.ask(hot=str(index)),
        on_unguarded=lambda index, why: line.ask(unguarded=str(index), why=why),
    )  # fmt: skip
    sampler.start()
    while not stop.wait(0.1) and sampler.is_alive():
        pass
    sampler.join(LAST)  # the last row has the final counters


def lease() -> Optional[socket.socket]:
    """Return the lease of this node, or None if another burn-in has it.

    It is a socket with a name and without a file. The kernel frees the name when the last process of the burn-in ends,
    however it ends.
    """
    held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    until = time.monotonic() + LEASE_PATIENCE
    while True:
        try:
            held.bind("\0" + os.environ.get("RACKCHECK_LEASE", LEASE))
        except OSError:
            if time.monotonic() > until:
                held.close()
                return None
            time.sleep(0.1)
        else:
            return held


def main(plan: "PlanDict", carried: Dict[str, Any], began: float) -> None:
    """Run a plan on this node; the exit status is 0 if the plan was completed, and 3 if another burn-in runs here."""
    held = lease()
    if held is None:
        print(json.dumps({"k": "busy", "t": 0}))
        sys.exit(3)
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
