"""Errors of Lustre and its network."""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg import line
from rackcheck_probes.kernel_log.kernel_log import DMESG

KINDS = (
    line("errors", "LustreError: ", r"LustreError: ", "Lines that begin with LustreError."),
    line("network_errors", "LNetError: ", r"LNetError: ", "Lines that begin with LNetError."),
    line(
        "connections_lost",
        "was lost; in progress operations",
        r"Lustre: .{1,400} was lost; in progress operations",
        "Connections to servers that were lost.",
    ),
)


@probe(
    DMESG,
    gives=dmesg.promised("log.kernel.lustre", KINDS),
)
def log_lustre(answer: str) -> Facts:
    """Count the log lines of each kind; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_all("log.kernel.lustre", answer, KINDS)
