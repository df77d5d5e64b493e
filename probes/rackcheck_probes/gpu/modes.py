"""Modes of each NVIDIA GPU: persistence, sharing, partitioning."""

from rackcheck import Facts, flag, integer, probe, text
from rackcheck_probes.gpu.nvml import QUESTION, NvmlFact, NvmlTable, gives, of_gpus
from rackcheck_probes.gpu.nvml_values import ENABLED, counted, one_of, unchanged, yes

SHARING = one_of("default", "exclusive thread", "prohibited", "exclusive process")
VIRTUAL = one_of("none", "pass-through", "vgpu", "host vgpu", "host vsga")
FACTS = NvmlTable(
    {
        "persistence": NvmlFact(
            "persistence", yes, flag("Whether the driver stays loaded while no process uses the GPU.")
        ),
        "compute_mode": NvmlFact(
            "compute_mode", SHARING, text("How processes may share the GPU: default, exclusive process.")
        ),
        "mig.mode": NvmlFact("mig", ENABLED, text("Multi-instance GPU: enabled, disabled; absent if unsupported.")),
        "mig.pending": NvmlFact("mig_pending", ENABLED, text("Multi-instance GPU after the next reset of the GPU.")),
        "mig.devices": NvmlFact("mig_devices", counted, integer("Instances that the GPU is partitioned into.")),
        "accounting": NvmlFact("accounting", yes, flag("Whether the driver keeps statistics of each process.")),
        "display_active": NvmlFact("display_active", yes, flag("Whether the GPU reserves memory for a display.")),
        "virtualization": NvmlFact(
            "virtualization", VIRTUAL, text("How the GPU is shared with virtual machines, or none.")
        ),
        "addressing": NvmlFact(
            "addressing", unchanged, text("How the GPU accesses the host's memory: None, HMM, ATS.")
        ),
    }
)


@probe(QUESTION, gives=gives(FACTS))
def gpu_modes(answer: str) -> Facts:
    """Read each GPU's modes."""
    yield from of_gpus(answer, FACTS)
