"""Interrupts that no driver handled, which the kernel then disabled.

The kernel (kernel/irq/spurious.c) disables an interrupt if nearly all of its last 100000 occurrences were handled by no
driver. The device is then polled, or not served at all.
"""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg import line
from rackcheck_probes.kernel_log.kernel_log import DMESG

KINDS = (
    line(
        "unhandled",
        ": nobody cared",
        r"irq [0-9]{1,9}: nobody cared\b",
        "Lines about interrupts that no driver handled.",
    ),
    line("disabled", "Disabling IRQ #", r"Disabling IRQ #[0-9]{1,9}", "Interrupts that the kernel disabled."),
)


@probe(DMESG, gives=dmesg.promised("log.kernel.interrupt", KINDS))
def log_interrupts(answer: str) -> Facts:
    """Count the log lines of each kind; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_all("log.kernel.interrupt", answer, KINDS)
