"""Memory repairs of each NVIDIA GPU: remapped rows, retired pages, and repairs that wait for a reset."""

from rackcheck import Class, Facts, flag, integer, probe
from rackcheck_probes.gpu.nvml import QUESTION, NvmlFact, NvmlTable, gives, of_gpus
from rackcheck_probes.gpu.nvml_values import counted, yes


def _state(key: str, what: str) -> NvmlFact:
    return NvmlFact(key, yes, flag(what, Class.MEASUREMENT))


def _count(key: str, what: str) -> NvmlFact:
    return NvmlFact(key, counted, integer(what, Class.COUNTER))


FACTS = NvmlTable(
    {
        "remap.corrected": _count("remap_corrected", "Rows remapped after correctable errors."),
        "remap.uncorrected": _count("remap_uncorrected", "Rows remapped after uncorrectable errors."),
        "remap.pending": _state("remap_pending", "Whether the remapping of a row waits for a reset of the GPU."),
        "remap.failed": _state("remap_failed", "Whether a row could not be remapped."),
        **{
            f"remap.available.{left}": _count(f"remap_{left}", f"Memory banks with {words} of their spare rows left.")
            for left, words in (("max", "all"), ("high", "most"), ("partial", "some"), ("low", "few"), ("none", "none"))
        },
        "retired.single": _count("retired_single", "Pages retired after several single-bit errors."),
        "retired.double": _count("retired_double", "Pages retired after a double-bit error."),
        "retired.pending": _state("retired_pending", "Whether the retirement of a page waits for a restart."),
        "repair.channel_pending": _state("channel_repair_pending", "Whether a memory channel waits to be repaired."),
        "repair.tpc_pending": _state("tpc_repair_pending", "Whether a processing cluster waits to be repaired."),
        "unrepairable": _state("unrepairable", "Whether the driver reports the GPU's memory as unrepairable."),
    }
)


@probe(QUESTION, gives=gives(FACTS))
def gpu_repair(answer: str) -> Facts:
    """Read each GPU's repairs."""
    yield from of_gpus(answer, FACTS)
