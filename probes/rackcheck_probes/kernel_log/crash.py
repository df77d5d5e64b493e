"""The kernel's own faults."""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_kernel import FAULTS
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives=dmesg.counts(
        "log.kernel.crash",
        {
            "panics": "Panics; one in the ring is of a kernel that another one kept, or is just going down.",
            "oopses": "Faults of the kernel that it survived.",
            "bugs": "Places where the kernel found itself in a state that must not be.",
            "warnings": "Warnings with a trace of calls.",
        },
    ),
)
def log_crash(answer: str) -> Facts:
    """Count the lines; the ring's older lines are gone."""
    yield from dmesg.of_all("log.kernel.crash", answer, FAULTS)
