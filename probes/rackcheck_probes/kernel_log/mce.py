"""Machine checks: errors of processors and memory that the processors reported."""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_hardware import MACHINE_CHECKS
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives=dmesg.counts(
        "log.kernel.mce",
        {
            "corrected": "Lines with a corrected machine check.",
            "deferred": "Lines with a deferred machine check: data is corrupt but was not used yet.",
            "uncorrected": "Lines with an uncorrected machine check.",
            "logged": "Lines about logged machine checks, without their content.",
            "hardware_interrupts": "Lines about a non-maskable interrupt because of a PCI system or I/O error.",
            "memory_failures": "Lines about memory pages taken out of use as broken.",
        },
    ),
)
def log_mce(answer: str) -> Facts:
    """Count the log lines of each kind; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_all("log.kernel.mce", answer, MACHINE_CHECKS)
