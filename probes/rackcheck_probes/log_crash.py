"""The kernel's own faults.

Every fault has one line, `TEXT: NUMBER [#N]`, the Nth of this boot, whatever the text: `Oops`, `divide error`, `general
protection fault`, and on arm64 `Internal error: TEXT` (the kernel's arch/x86/kernel/dumpstack.c and
arch/arm64/kernel/traps.c). The lines around it, as `Unable to handle kernel ...`, tell of the same fault.
"""

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
    line(
        "oopses",
        " [#",
        r"(?:Oops: |Internal error: )?[^:\[\]]{0,120}: [0-9a-f]{1,16} \[#[0-9]{1,9}\]",
        "Faults of the kernel that it survived.",
    ),
    line("oopses", "Oops: ", r"(?:Internal error: )?Oops: "),
    line("oopses", "general protection fault, ", r"general protection fault, "),
    line("oopses", "SError Interrupt on CPU", r"SError Interrupt on CPU[0-9]{1,5}, code "),
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
