"""Errors of AMD GPUs that the driver reported."""

from rackcheck import Facts, collection, probe
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck_probes.kernel_log import DMESG

KINDS = (
    line(
        "uncorrected",
        "uncorrectable hardware errors detected",
        r"amdgpu (?P<key><pci>): (?:amdgpu: )?.{0,120}?\b[1-9][0-9]{0,11} (?:new )?uncorrectable "
        r"hardware errors detected",
        "Lines that tell of uncorrected errors.",
    ),
    line(
        "corrected",
        " correctable hardware errors detected",
        r"amdgpu (?P<key><pci>): (?:amdgpu: )?.{0,120}?\b[1-9][0-9]{0,11} (?:new )?correctable "
        r"hardware errors detected",
        "Lines that tell of corrected errors.",
    ),
    line(
        "deferred",
        "deferred hardware errors detected",
        r"amdgpu (?P<key><pci>): (?:amdgpu: )?.{0,120}?\b[1-9][0-9]{0,11} (?:new )?deferred hardware "
        r"errors detected",
        "Lines that tell of deferred errors.",
    ),
    line(
        "resets",
        "GPU reset begin",
        r"amdgpu (?P<key><pci>): (?:amdgpu: )?.{0,40}GPU reset begin",
        "Resets of the GPU that the driver began.",
    ),
    line(
        "reset_failures",
        "failed",
        r"amdgpu (?P<key><pci>): (?:amdgpu: )?.{0,40}GPU reset ?(?:\([0-9]{1,9}\) )?failed",
        "Resets of the GPU that failed.",
    ),
    line(
        "page_faults",
        "page fault",
        r"amdgpu (?P<key><pci>): (?:amdgpu: )?\[\S{1,40}\] ?(?:(?:no-)?retry )?page fault",
        "Page faults of programs on the GPU.",
    ),
)


@probe(
    DMESG,
    gives={
        "log.kernel.amdgpu": collection(
            "AMD GPUs that the driver reported errors of, by PCI address; empty without such a line."
        ),
        **dmesg.promised("log.kernel.amdgpu/*", KINDS),
    },
)
def log_amdgpu(answer: str) -> Facts:
    """Count the lines of each device; the ring's older lines are gone."""
    yield from dmesg.of_each("log.kernel.amdgpu", answer, KINDS)
