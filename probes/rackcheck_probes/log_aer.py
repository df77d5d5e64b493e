"""PCIe errors that the kernel reported (AER).

The kernel limits how often it prints them: a count is of lines, not of errors. Root ports report for what is below.
"""

from rackcheck import Facts, collection, probe
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck_probes.kernel_log import DMESG

KINDS = (
    line(
        "corrected",
        "PCIe Bus Error: severity=Correct",
        r"<driver> (?P<key><pci>): (?:AER: )?PCIe Bus Error: severity=Correct(?:ed|able)\b",
        "Lines with a corrected PCIe error of this function.",
    ),
    line(
        "nonfatal",
        "(Non-Fatal)",
        r"<driver> (?P<key><pci>): (?:AER: )?PCIe Bus Error: severity=Uncorrect(?:ed|able) \(Non-Fatal\)",
        "Lines with an uncorrected, not fatal PCIe error of this function.",
    ),
    line(
        "fatal",
        "(Fatal)",
        r"<driver> (?P<key><pci>): (?:AER: )?PCIe Bus Error: severity=Uncorrect(?:ed|able) \(Fatal\)",
        "Lines with a fatal PCIe error of this function.",
    ),
    line(
        "by_firmware",
        "aer_status: 0x",
        r"<driver> (?P<key><pci>): (?:AER: )?aer_status: 0x",
        "Lines with a PCIe error that firmware took first; they do not tell its severity.",
    ),
)


@probe(
    DMESG,
    gives={
        "log.kernel.aer": collection(
            "PCI functions that the kernel reported PCIe errors of, by address; empty without such a line."
        ),
        **dmesg.promised("log.kernel.aer/*", KINDS),
    },
)
def log_aer(answer: str) -> Facts:
    """Count the lines of each device; the ring's older lines are gone."""
    yield from dmesg.of_each("log.kernel.aer", answer, KINDS)
