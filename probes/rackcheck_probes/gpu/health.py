"""Recovery that each NVIDIA GPU requires, its load, and the number of other GPUs whose memory it can read."""

from typing import Any

from rackcheck import Class, Facts, Unreadable, integer, probe, quantity, text
from rackcheck_probes.gpu.nvml import QUESTION, NvmlFact, NvmlTable, gives, of_gpus
from rackcheck_probes.gpu.nvml_values import counted, recovery, scaled


def reached(value: Any) -> int:
    """Count the other GPUs whose memory this GPU can read: the zeros in a list with one status per other GPU."""
    if not isinstance(value, list):
        raise Unreadable(f"not a list of GPUs: {value!r:.80}")
    return sum(counted(one) == 0 for one in value)


ACTION = "Recovery that the driver requires for the GPU: none, reset, reboot."
FACTS = NvmlTable(
    {
        "recovery_action": NvmlFact("recovery_action", recovery, text(ACTION, Class.MEASUREMENT)),
        "processes": NvmlFact("processes", counted, integer("Processes that use the GPU now.", Class.MEASUREMENT)),
        "peers": NvmlFact("peers", reached, integer("Other GPUs whose memory this GPU can read directly.")),
        "utilization.gpu": NvmlFact(
            "utilization",
            scaled(1),
            quantity("%", "Share of recent time in which the GPU was busy.", Class.MEASUREMENT),
        ),
        "utilization.memory": NvmlFact(
            "utilization_memory",
            scaled(1),
            quantity("%", "Share of recent time in which the GPU's memory was busy.", Class.MEASUREMENT),
        ),
    }
)


@probe(QUESTION, gives=gives(FACTS))
def gpu_health(answer: str) -> Facts:
    """Read each GPU's recovery action and load, and count the GPUs whose memory it can read."""
    yield from of_gpus(answer, FACTS)
