"""How each AMD GPU is divided, and how it may set its clocks."""

from rackcheck import Facts, Files, listing, probe, text
from rackcheck.model import text as read
from rackcheck.parse.host.gpu.amdgpu import words
from rackcheck_probes.gpu.amd.amd import SysfsFact, gives, of_gpus, question

FACTS = {
    "partition.compute": SysfsFact(
        "current_compute_partition", read.line, text("How the GPU is divided: SPX (one), CPX; absent if it cannot be.")
    ),
    "partition.memory": SysfsFact(
        "current_memory_partition", read.line, text("How its memory is divided: NPS1 (one), NPS4; absent if it cannot.")
    ),
    "partition.compute_modes": SysfsFact(
        "available_compute_partition", words, listing("The ways in which the GPU could be divided.")
    ),
    "performance_level": SysfsFact(
        "power_dpm_force_performance_level", read.line, text("Who sets the clocks: auto, high, low, manual.")
    ),
}


# Unverified on hardware: words of a recorded MI300A and MI300X, files of the kernel's documentation.
@probe(question(FACTS), gives=gives(FACTS))
def amd_modes(files: Files) -> Facts:
    """Read each GPU's modes."""
    yield from of_gpus(files, FACTS)
