"""Memory error correction of each NVIDIA GPU, and its error counters."""

from rackcheck import Class, Facts, flag, integer, probe, text
from rackcheck_probes.gpu.nvml import QUESTION, NvmlFact, NvmlTable, gives, of_gpus
from rackcheck_probes.gpu.nvml_values import ENABLED, counted, yes


def _errors(key: str, what: str) -> NvmlFact:
    return NvmlFact(key, counted, integer(what, Class.COUNTER))


SINCE = {"volatile": "since the driver was loaded", "aggregate": "over the GPU's life"}
FACTS = NvmlTable(
    {
        "ecc.mode": NvmlFact(
            "ecc", ENABLED, text("Memory error correction now: enabled, disabled; absent if the GPU has none.")
        ),
        "ecc.pending": NvmlFact(
            "ecc_pending", ENABLED, text("Memory error correction after the next reset of the GPU.")
        ),
        "ecc.uncorrected": _errors("ecc_uncorrected", "Uncorrected memory errors since the driver was loaded."),
        **{
            f"ecc.{counter}.{place}.{kind}": _errors(
                f"ecc_{counter}_{place}_{kind}", f"{kind.capitalize()} errors of the {place.upper()} {since}."
            )
            for counter, since in SINCE.items()
            for place in ("sram", "dram")
            for kind in ("corrected", "uncorrected")
        },
        **{
            f"ecc.{counter}.sram.{kind}": _errors(
                f"ecc_sram_{kind}_{counter}", f"Uncorrected SRAM errors that {found} found {since}."
            )
            for counter, since in SINCE.items()
            for kind, found in (("parity", "a parity bit"), ("secded", "SEC-DED"))
        },
        **{
            f"ecc.aggregate.sram.source.{source}": _errors(
                f"ecc_sram_source_{source}", f"Uncorrected SRAM errors of {where} over the GPU's life."
            )
            for source, where in (
                ("l2", "the L2 cache"),
                ("sm", "the multiprocessors"),
                ("microcontroller", "the microcontrollers"),
                ("pcie", "the PCIe block"),
                ("other", "other blocks"),
            )
        },
        "ecc.sram_threshold_exceeded": NvmlFact(
            "ecc_sram_threshold_exceeded",
            yes,
            flag("Whether uncorrected SRAM errors exceeded the driver's own limit.", Class.MEASUREMENT),
        ),
    }
)


@probe(QUESTION, gives=gives(FACTS))
def gpu_ecc(answer: str) -> Facts:
    """Read each GPU's error counters."""
    yield from of_gpus(answer, FACTS)
