"""Clock sources that the kernel found to be wrong.

The kernel (kernel/time/clocksource.c, arch/x86/kernel/tsc.c) compares the TSC with another clock, and the TSCs of the
processors with each other. The kernel replaces an unstable TSC by a clock that is slower to read. Lines in which a
guest's kernel marks the TSC as unstable because of its hypervisor are not counted.
"""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg import line
from rackcheck_probes.kernel_log.kernel_log import DMESG

KINDS = (
    line(
        "unstable",
        "Marking clocksource ",
        r"(?:clocksource: )?(?:timekeeping watchdog(?: on CPU[0-9]{1,5})?: )?"
        r"Marking clocksource '?[\w-]{1,40}'? (?:as )?unstable\b",
        "Lines about clock sources that the kernel marked as unstable.",
    ),
    line(
        "unstable",
        "Marking TSC unstable due to ",
        r"(?:tsc: )?Marking TSC unstable due to (?:clocksource watchdog|check_tsc_sync_source failed)",
    ),
    line("unstable", "Clocksource ", r"Clocksource [\w-]{1,40} unstable \(delta = "),
    line("unstable", " skewed ", r"clocksource: +Clocksource '[\w-]{1,40}' skewed -?[0-9]{1,20} ns\b"),
)


@probe(DMESG, gives=dmesg.promised("log.kernel.clock", KINDS))
def log_clock(answer: str) -> Facts:
    """Count the log lines of each kind; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_all("log.kernel.clock", answer, KINDS)
