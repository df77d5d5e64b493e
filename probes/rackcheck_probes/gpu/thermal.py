"""Temperatures of each NVIDIA GPU, and how many degrees are left before the GPU slows down."""

from rackcheck import Class, Facts, probe, quantity
from rackcheck_probes.gpu.nvml import QUESTION, NvmlFact, NvmlTable, gives, of_gpus
from rackcheck_probes.gpu.nvml_values import degrees, scaled

MARGIN = "Degrees left before the GPU slows down; newer GPUs report this margin, older ones report limits."
LIMITS = {
    "shutdown": "shuts down",
    "slowdown": "slows down in hardware",
    "max_operating": "slows down in software",
    "memory_max": "slows down to cool its memory",
}
FACTS = NvmlTable(
    {
        "temperature": NvmlFact(
            "temperature", scaled(1), quantity("C", "The GPU's core temperature.", Class.MEASUREMENT)
        ),
        "temperature_memory": NvmlFact(
            "temperature_memory", degrees, quantity("C", "The temperature of the GPU's memory.", Class.MEASUREMENT)
        ),
        **{
            f"temperature_{limit}": NvmlFact(
                f"temperature_{limit}", degrees, quantity("C", f"The temperature at which the GPU {does}.")
            )
            for limit, does in LIMITS.items()
        },
        "temperature_target": NvmlFact(
            "temperature_target", degrees, quantity("C", "The temperature that the GPU is set to stay below.")
        ),
        "margin": NvmlFact("temperature_margin", degrees, quantity("C", MARGIN, Class.MEASUREMENT)),
        **{
            f"margin_{limit}": NvmlFact(
                f"margin_{limit}", degrees, quantity("C", f"The margin at which the GPU {does}.")
            )
            for limit, does in LIMITS.items()
        },
        "fan": NvmlFact(
            "fan",
            scaled(1),
            quantity("%", "The fan's speed as a share of its maximum; absent without a fan.", Class.MEASUREMENT),
        ),
    }
)


@probe(QUESTION, gives=gives(FACTS))
def gpu_thermal(answer: str) -> Facts:
    """Read each GPU's temperatures."""
    yield from of_gpus(answer, FACTS)
