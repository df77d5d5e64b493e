"""Panics, oopses, bugs and warnings of the kernel itself."""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_kernel import FAULTS
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives=dmesg.counts(
        "log.kernel.crash",
        {
            "panics": "Panics; such a line is from an earlier kernel, or from this kernel as it goes down.",
            "oopses": "Kernel faults that the kernel survived.",
            "bugs": "Failed consistency checks of the kernel.",
            "warnings": "Warnings with a call trace.",
        },
    ),
)
def log_crash(answer: str) -> Facts:
    """Count the log lines of each kind; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_all("log.kernel.crash", answer, FAULTS)
