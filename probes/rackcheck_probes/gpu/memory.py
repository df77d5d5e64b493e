"""Memory of each NVIDIA GPU: in use, reserved, and accessible to the host through BAR1."""

from rackcheck import Class, Facts, probe, quantity
from rackcheck_probes.gpu.nvml import QUESTION, NvmlFact, NvmlTable, gives, of_gpus
from rackcheck_probes.gpu.nvml_values import SIZE

USED, RESERVED = "GPU memory in use now.", "GPU memory that the driver keeps for itself."
FACTS = NvmlTable(
    {
        "memory.used": NvmlFact("memory_used", SIZE, quantity("GiB", USED, Class.MEASUREMENT)),
        "memory.reserved": NvmlFact("memory_reserved", SIZE, quantity("GiB", RESERVED, Class.MEASUREMENT)),
        "bar1.total": NvmlFact(
            "bar1", SIZE, quantity("GiB", "The size of BAR1, through which the host accesses the GPU's memory.")
        ),
        "bar1.used": NvmlFact(
            "bar1_used", SIZE, quantity("GiB", "The part of BAR1 that is in use now.", Class.MEASUREMENT)
        ),
        "confidential.memory": NvmlFact(
            "cc_memory", SIZE, quantity("GiB", "Memory reserved for confidential computing.")
        ),
    }
)


@probe(QUESTION, gives=gives(FACTS))
def gpu_memory(answer: str) -> Facts:
    """Read each GPU's memory sizes."""
    yield from of_gpus(answer, FACTS)
