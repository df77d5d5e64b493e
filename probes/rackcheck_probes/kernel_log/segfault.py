"""Programs that crashed."""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_kernel import CRASHED_PROGRAMS
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives=dmesg.counts(
        "log.kernel.segfault",
        {
            "nccl": "Programs that crashed in NCCL.",
            "libc": "Programs that crashed in the C library.",
            "other": "Programs that crashed elsewhere.",
        },
    ),
)
def log_segfault(answer: str) -> Facts:
    """Count the log lines of each kind; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_all("log.kernel.segfault", answer, CRASHED_PROGRAMS)
