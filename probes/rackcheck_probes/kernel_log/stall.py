"""Tasks and processors that stalled."""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_kernel import STALLS
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives=dmesg.counts(
        "log.kernel.stall",
        {
            "hung_tasks": "Tasks that were blocked for longer than the kernel's limit, usually 120 s.",
            "soft_lockups": "Processors that did not schedule for too long.",
            "hard_lockups": "Processors that took no interrupt for too long.",
            "rcu_stalls": "Stalls of the kernel's read-copy-update.",
        },
    ),
)
def log_stall(answer: str) -> Facts:
    """Count the log lines of each kind; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_all("log.kernel.stall", answer, STALLS)
