"""The PCIe link of each NVIDIA GPU, as its driver reports it."""

from rackcheck import Class, Facts, integer, probe
from rackcheck_probes.gpu.nvml import QUESTION, NvmlFact, NvmlTable, gives, of_gpus
from rackcheck_probes.gpu.nvml_values import counted


def _count(key: str, what: str) -> NvmlFact:
    return NvmlFact(key, counted, integer(what, Class.COUNTER))


GENERATION = "The PCIe generation now; an idle GPU uses a lower one."
FACTS = NvmlTable(
    {
        "link.generation": NvmlFact("link_generation", counted, integer(GENERATION, Class.MEASUREMENT)),
        "link.max_generation": NvmlFact(
            "link_max_generation", counted, integer("The highest PCIe generation that both GPU and slot support.")
        ),
        "link.device_max_generation": NvmlFact(
            "link_device_max_generation", counted, integer("The highest PCIe generation of the GPU alone.")
        ),
        "link.width": NvmlFact("link_width", counted, integer("PCIe lanes that the GPU trained.")),
        "link.max_width": NvmlFact(
            "link_max_width", counted, integer("The maximum PCIe lanes that both GPU and slot support.")
        ),
        "link.replays": _count("pcie_replay", "PCIe packets sent again."),
        "link.replay_rollovers": _count("pcie_replay_rollover", "Rollovers of the PCIe replay counter."),
        "link.errors.correctable": _count("pcie_correctable", "Correctable PCIe errors of the GPU."),
        "link.errors.nonfatal": _count(
            "pcie_nonfatal", "Non-fatal PCIe errors: uncorrectable errors after which the link is still reliable."
        ),
        "link.errors.fatal": _count(
            "pcie_fatal", "Fatal PCIe errors: uncorrectable errors after which the link is no longer reliable."
        ),
    }
)


@probe(QUESTION, gives=gives(FACTS))
def gpu_link(answer: str) -> Facts:
    """Read each GPU's PCIe link."""
    yield from of_gpus(answer, FACTS)
