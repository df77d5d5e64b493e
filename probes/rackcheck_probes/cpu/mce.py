"""Whether the CPUs reported hardware errors."""

from rackcheck import Class, Facts, Shell, integer, listing, probe
from rackcheck.parse.host.cpu.proc_interrupts import interrupts

# The whole table is megabytes on a large node; blanks are squeezed on the node.
KINDS = {"exceptions": "MCE", "thresholds": "THR", "deferred": "DFR", "thermal": "TRM"}
COMMAND = "grep -E '^ +CPU|^ *(MCE|THR|DFR|TRM):' /proc/interrupts | tr -s ' '; echo end"


@probe(
    Shell(COMMAND, quick=True),
    gives={
        "cpu.mce.exceptions": integer("Machine check exceptions since boot: uncorrected errors.", Class.COUNTER),
        "cpu.mce.cpus": listing("Logical CPUs with machine check exceptions, as ranges.", Class.COUNTER),
        "cpu.mce.thresholds": integer("Interrupts for corrected errors since boot.", Class.COUNTER),
        "cpu.mce.deferred": integer("Interrupts for deferred errors since boot; AMD only.", Class.COUNTER),
        "cpu.mce.thermal": integer("Interrupts because of a thermal or power limit since boot.", Class.COUNTER),
    },
)
def cpu_mce(answer: str) -> Facts:
    """Add up the interrupts of each kind over all CPUs; absent if this kernel or CPU lacks interrupts of the kind."""
    found = interrupts(answer)
    for leaf, kind in KINDS.items():
        yield f"cpu.mce.{leaf}", found.total(kind)
    yield "cpu.mce.cpus", found.hit("MCE")
