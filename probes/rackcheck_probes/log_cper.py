"""Errors that the firmware reported to the kernel (APEI, CPER)."""

from rackcheck import Facts, probe
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck_probes.kernel_log import DMESG

KINDS = (
    line(
        "corrected",
        "event severity: corrected",
        r"(?:\{[0-9]{1,10}\})?\[Hardware Error\]: event severity: corrected",
        "Reports that call themselves corrected.",
    ),
    line(
        "recoverable",
        "event severity: recoverable",
        r"(?:\{[0-9]{1,10}\})?\[Hardware Error\]: event severity: recoverable",
        "Reports that call themselves recoverable: uncorrected, and not fatal.",
    ),
    line(
        "fatal",
        "event severity: fatal",
        r"(?:\{[0-9]{1,10}\})?\[Hardware Error\]: event severity: fatal",
        "Reports that call themselves fatal.",
    ),
)


@probe(
    DMESG,
    gives=dmesg.promised("log.kernel.firmware_error", KINDS),
)
def log_cper(answer: str) -> Facts:
    """Count the lines; the ring's older lines are gone."""
    yield from dmesg.of_all("log.kernel.firmware_error", answer, KINDS)
