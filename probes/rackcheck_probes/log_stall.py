"""Tasks and processors that stood still."""

from rackcheck import Facts, probe
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck_probes.kernel_log import DMESG

KINDS = (
    line(
        "hung_tasks",
        " for more than ",
        r"INFO: task (?P<who>.{1,40}):[0-9]{1,10} blocked(?: in I/O wait)? for more than [0-9]{1,9} seconds",
        "Tasks that were blocked for longer than the kernel waits, usually 120 s.",
    ),
    line(
        "soft_lockups",
        "soft lockup - CPU#",
        r"(?:NMI )?(?:watchdog: )?BUG: soft lockup - CPU#[0-9]{1,5} stuck for [0-9]{1,9}s!(?: "
        r"\[(?P<who>.{1,40}):[0-9]{1,10}\])?",
        "Processors that did not schedule for too long.",
    ),
    line(
        "hard_lockups",
        "hard LOCKUP on cpu",
        r"(?:NMI )?watchdog: (?:CPU[0-9]{1,5}: )?Watchdog detected hard LOCKUP on cpu",
        "Processors that took no interrupt for too long.",
    ),
    line(
        "rcu_stalls",
        " stall",
        r"(?:rcu: )?INFO: rcu_[a-z]{1,20} (?:self-detected stall|detected (?:expedited )?stalls?)\b",
        "Stalls of the kernel's read-copy-update.",
    ),
)


@probe(
    DMESG,
    gives=dmesg.promised("log.kernel.stall", KINDS),
)
def log_stall(answer: str) -> Facts:
    """Count the lines; the ring's older lines are gone."""
    yield from dmesg.of_all("log.kernel.stall", answer, KINDS)
