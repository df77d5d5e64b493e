"""A rack of GB200 from recordings: its trays and shelves as audits read them, all healthy.

Each compute tray is the recorded one with two findings corrected (a detector that reports a leak, and a GPU of another
VBIOS), and four GPUs from nvidia-smi on another owner's tray. Switch trays and shelves are as recorded.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from gpu_driver import by_index
from recordings import answering, os_probes, shared_text
from trees import DELTA, GB200, NVSWITCH, tree_leaves

from rackcheck.inventory import BmcAccess, Node
from rackcheck.model.fact import Absent, Plane, Reading
from rackcheck.model.tree import Leaf
from rackcheck.probe.collect import collect
from rackcheck_probes.gpu.nvml import QUESTION

TRAYS, SWITCHES, SHELVES = 18, 9, 8
LEAKING = "leak/Chassis_0_LeakDetector_1_ColdPlate"
BMC = BmcAccess("https://bmc.example")

Leaves = Mapping[str, Leaf]


@cache
def gpus() -> Leaves:
    """The facts of four GB200 that are one clique with others, from nvidia-smi."""
    output = f"bus 0000:29:00.0\nbus read\nnvidia-smi -q -x\n{shared_text('nvidia/nvidia-smi-qx-gb200.xml')}ended 0\n"
    probes = [probe for probe in os_probes().values() if probe.ask == QUESTION]
    return by_index(collect(probes, answering(os_probes()["gpu"], output)))


@cache
def tray() -> Leaves:
    """A healthy compute tray."""
    held = {**tree_leaves(GB200), **gpus()}
    for path in (f"{LEAKING}.state", f"{LEAKING}.health"):
        held = altered(held, path, "OK")
    held = altered(held, f"{LEAKING}.fitted", "Enabled")
    return altered(held, "firmware.component/HGX_FW_GPU_1.version", "97.00.6C.00.03")


def altered(leaves: Leaves, path: str, reading: Reading) -> dict[str, Leaf]:
    """The same facts with one value changed."""
    return {**leaves, path: replace(leaves[path], reading=reading)}


def absent(leaves: Leaves, path: str) -> dict[str, Leaf]:
    """The same facts with one of them absent."""
    return altered(leaves, path, Absent("not there"))


def rack(name: str = "a01", trays: int = TRAYS) -> dict[Node, Leaves]:
    """Every node of a rack and its facts."""
    found: dict[Node, Leaves] = {}
    for role, short, count, leaves in (
        ("compute", "tray", trays, tray()),
        ("nvswitch-tray", "switch", SWITCHES, tree_leaves(NVSWITCH)),
        ("power-shelf", "shelf", SHELVES, tree_leaves(DELTA)),
    ):
        for number in range(1, count + 1):
            node = f"{name}-{short}{number:02}"
            host = node if role == "compute" else ""
            found[Node(node, role, host, bmc=BMC, rack=name)] = leaves
    return found


PLANES = frozenset({Plane.OS, Plane.BMC})
