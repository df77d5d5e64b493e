"""Errors that the firmware reported to the kernel (APEI, CPER)."""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_hardware import FIRMWARE_ERRORS
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives=dmesg.counts(
        "log.kernel.firmware_error",
        {
            "corrected": "Reports with severity corrected.",
            "recoverable": "Reports with severity recoverable: uncorrected, and not fatal.",
            "fatal": "Reports with severity fatal.",
        },
    ),
)
def log_cper(answer: str) -> Facts:
    """Count the log lines of each kind; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_all("log.kernel.firmware_error", answer, FIRMWARE_ERRORS)
