"""NFS servers that did not respond."""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg import line
from rackcheck_probes.kernel_log.kernel_log import DMESG

KINDS = (
    line(
        "not_responding",
        " not responding",
        r"nfs: server \S{1,255} not responding",
        "Lines about a server that does not answer.",
    ),
    line("recovered", " OK", r"nfs: server \S{1,255} OK", "Lines about a server that answers again."),
    line(
        "locks_lost",
        "Lock reclaim failed",
        r"(?:NFS: )?(?:nfs4_reclaim_open_state: )?Lock reclaim failed",
        "Locks that could not be reclaimed from a server.",
    ),
)


@probe(
    DMESG,
    gives=dmesg.promised("log.kernel.nfs", KINDS),
)
def log_nfs(answer: str) -> Facts:
    """Count the log lines of each kind; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_all("log.kernel.nfs", answer, KINDS)
