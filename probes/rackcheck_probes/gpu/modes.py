"""How each NVIDIA GPU is set up: what stays over jobs, who may use it, how it is divided."""

from rackcheck import Facts, flag, integer, probe, text
from rackcheck_probes.gpu.nvml import QUESTION, Told, gives, of_gpus
from rackcheck_probes.gpu.nvml_values import ENABLED, as_told, counted, one_of, yes

SHARING = one_of("default", "exclusive thread", "prohibited", "exclusive process")
VIRTUAL = one_of("none", "pass-through", "vgpu", "host vgpu", "host vsga")
FACTS = {
    "persistence": Told("persistence", yes, flag("Whether the driver stays loaded while nobody uses the GPU.")),
    "compute_mode": Told("compute_mode", SHARING, text("How processes may share the GPU: default, exclusive process.")),
    "mig.mode": Told("mig", ENABLED, text("Multi-instance GPU: enabled, disabled; absent if the GPU cannot.")),
    "mig.pending": Told("mig_pending", ENABLED, text("Multi-instance GPU after the next reset of the GPU.")),
    "mig.devices": Told("mig_devices", counted, integer("Instances that the GPU is divided into.")),
    "accounting": Told("accounting", yes, flag("Whether the driver keeps statistics of each process.")),
    "display_active": Told("display_active", yes, flag("Whether the GPU keeps memory for a display.")),
    "virtualization": Told("virtualization", VIRTUAL, text("How the GPU is shared with virtual machines, or none.")),
    "addressing": Told("addressing", as_told, text("How the GPU reaches the host's memory: None, HMM, ATS.")),
}


@probe(QUESTION, gives=gives(FACTS))
def gpu_modes(answer: str) -> Facts:
    """Read each GPU's modes."""
    yield from of_gpus(answer, FACTS)
