"""Power draw and power limits of each NVIDIA GPU, and of its module where GPU and CPU share one."""

from rackcheck import Class, Facts, probe, quantity
from rackcheck_probes.gpu.nvml import QUESTION, NvmlFact, NvmlTable, gives, of_gpus
from rackcheck_probes.gpu.nvml_values import POWER


def _now(key: str, what: str) -> NvmlFact:
    return NvmlFact(key, POWER, quantity("W", what, Class.MEASUREMENT))


def _limit(key: str, what: str) -> NvmlFact:
    return NvmlFact(key, POWER, quantity("W", what))


FACTS = NvmlTable(
    {
        "power.draw": _now("power_usage", "The power that the GPU draws now."),
        "power.average": _now("power_average", "The power that the GPU drew over the last second."),
        "power.memory": _now("power_memory", "The power that the GPU's memory drew over the last second."),
        "power.limit": _limit("power_limit", "The configured power limit."),
        "power.enforced": _now("power_enforced", "The lowest of all power limits that apply now."),
        "power.default": _limit("power_default", "The power limit that the GPU starts with."),
        "power.min": _limit("power_min", "The lowest power limit that can be set."),
        "power.max": _limit("power_max", "The highest power limit that can be set."),
        "power.module.draw": _now("module_power_usage", "The power that GPU and CPU of one module draw now."),
        "power.module.average": _now("module_power_average", "The power that the module drew over the last second."),
        "power.module.limit": _limit("module_power_limit", "The module's configured power limit."),
        "power.module.default": _limit("module_power_default", "The default power limit of the module."),
        "power.module.min": _limit("module_power_min", "The lowest power limit that can be set for the module."),
        "power.module.max": _limit("module_power_max", "The highest power limit that can be set for the module."),
    }
)


@probe(QUESTION, gives=gives(FACTS))
def gpu_power(answer: str) -> Facts:
    """Read each GPU's power."""
    yield from of_gpus(answer, FACTS)
