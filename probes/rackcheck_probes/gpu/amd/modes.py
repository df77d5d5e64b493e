"""How each AMD GPU is partitioned, and how its clocks are set."""

from rackcheck import Facts, Files, listing, probe, read, text
from rackcheck.parse.host.gpu.amdgpu import words
from rackcheck_probes.gpu.amd.amd import SysfsFact, gives, of_gpus, question

FACTS = {
    "partition.compute": SysfsFact(
        "current_compute_partition",
        read.line,
        text("The GPU's partitioning: SPX (one partition), CPX; absent without partitioning."),
    ),
    "partition.memory": SysfsFact(
        "current_memory_partition",
        read.line,
        text("The memory's partitioning: NPS1 (one partition), NPS4; absent without partitioning."),
    ),
    "partition.compute_modes": SysfsFact(
        "available_compute_partition", words, listing("The partitionings that the GPU supports.")
    ),
    "performance_level": SysfsFact(
        "power_dpm_force_performance_level", read.line, text("How the clocks are set: auto, high, low, manual.")
    ),
}


# Unverified on hardware: words of a recorded MI300A and MI300X, files from the kernel's documentation.
@probe(question(FACTS), gives=gives(FACTS))
def amd_modes(files: Files) -> Facts:
    """Read each GPU's modes."""
    yield from of_gpus(files, FACTS)
