"""Memory errors that EDAC drivers reported in the kernel's log."""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg import line
from rackcheck_probes.kernel_log.kernel_log import DMESG

KINDS = (
    line("corrected", " CE ", r"EDAC MC[0-9]{1,4}: [0-9]{1,9} CE ", "Lines with corrected memory errors."),
    line("uncorrected", " UE ", r"EDAC MC[0-9]{1,4}: [0-9]{1,9} UE ", "Lines with uncorrected memory errors."),
)


@probe(
    DMESG,
    gives=dmesg.promised("log.kernel.edac", KINDS),
)
def log_edac(answer: str) -> Facts:
    """Count the log lines of each kind; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_all("log.kernel.edac", answer, KINDS)
