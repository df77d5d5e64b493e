"""Temperatures of each NVIDIA GPU, and how far they are from where it slows down."""

from rackcheck import Class, Facts, probe, quantity
from rackcheck_probes.gpu.nvml import QUESTION, Told, gives, of_gpus
from rackcheck_probes.gpu.nvml_values import degrees, scaled

MARGIN = "How many degrees are left before the GPU slows down; newer GPUs tell this where older ones tell limits."
LIMITS = {
    "shutdown": "shuts down",
    "slowdown": "slows down in hardware",
    "max_operating": "slows down in software",
    "memory_max": "slows down for its memory",
}
FACTS = {
    "temperature": Told("temperature", scaled(1), quantity("C", "The GPU's core temperature.", Class.MEASUREMENT)),
    "temperature_memory": Told(
        "temperature_memory", degrees, quantity("C", "The temperature of the GPU's memory.", Class.MEASUREMENT)
    ),
    **{
        f"temperature_{limit}": Told(
            f"temperature_{limit}", degrees, quantity("C", f"The temperature at which the GPU {does}.")
        )
        for limit, does in LIMITS.items()
    },
    "temperature_target": Told(
        "temperature_target", degrees, quantity("C", "The temperature that the GPU is told to stay below.")
    ),
    "margin": Told("temperature_margin", degrees, quantity("C", MARGIN, Class.MEASUREMENT)),
    **{
        f"margin_{limit}": Told(f"margin_{limit}", degrees, quantity("C", f"The margin at which the GPU {does}."))
        for limit, does in LIMITS.items()
    },
    "fan": Told(
        "fan", scaled(1), quantity("%", "The fan's speed, of its highest; absent without one.", Class.MEASUREMENT)
    ),
}


@probe(QUESTION, gives=gives(FACTS))
def gpu_thermal(answer: str) -> Facts:
    """Read each GPU's temperatures."""
    yield from of_gpus(answer, FACTS)
