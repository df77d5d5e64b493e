"""The kernel's own faults."""

from rackcheck import Facts, probe
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck_probes.kernel_log import DMESG

KINDS = (
    line(
        "panics",
        "Kernel panic - not syncing",
        r"Kernel panic - not syncing",
        "Panics; one in the ring is of a kernel that another one kept, or is just going down.",
    ),
    line("oopses", "Oops: ", r"(?:Internal error: )?Oops: ", "Faults of the kernel that it survived."),
    line("oopses", "general protection fault, ", r"general protection fault, "),
    line("bugs", "BUG: ", r"BUG: (?!soft lockup)", "Places where the kernel found itself in a state that must not be."),
    line("bugs", "kernel BUG at ", r"kernel BUG at "),
    line(
        "warnings",
        "WARNING: ",
        r"WARNING: (?:CPU: [0-9]{1,5} PID: |[\w./-]{1,120}:[0-9]{1,6} at )",
        "Warnings with a trace of calls.",
    ),
)


@probe(
    DMESG,
    gives=dmesg.promised("log.kernel.crash", KINDS),
)
def log_crash(answer: str) -> Facts:
    """Count the lines; the ring's older lines are gone."""
    yield from dmesg.of_all("log.kernel.crash", answer, KINDS)
