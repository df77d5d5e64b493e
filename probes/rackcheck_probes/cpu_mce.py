"""Whether the CPUs reported hardware errors."""

import re

from rackcheck import Absent, Class, Facts, Shell, Unreadable, integer, listing, probe
from rackcheck.core import read
from rackcheck.core.read import percpu

# The whole table is megabytes on a large node; blanks are squeezed there.
KINDS = {"exceptions": "MCE", "thresholds": "THR", "deferred": "DFR", "thermal": "TRM"}
COMMAND = "grep -E '^ +CPU|^ *(MCE|THR|DFR|TRM):' /proc/interrupts | tr -s ' '; echo end"


@probe(
    Shell(COMMAND, quick=True),
    gives={
        "cpu.mce.exceptions": integer("Machine check exceptions since boot: errors not corrected.", Class.COUNTER),
        "cpu.mce.cpus": listing("Logical CPUs that had such exceptions, as ranges.", Class.COUNTER),
        "cpu.mce.thresholds": integer("Interrupts for corrected errors since boot.", Class.COUNTER),
        "cpu.mce.deferred": integer("Interrupts for deferred errors since boot; AMD only.", Class.COUNTER),
        "cpu.mce.thermal": integer("Interrupts because of heat or power since boot.", Class.COUNTER),
    },
)
def cpu_mce(answer: str) -> Facts:
    """Add up each kind's interrupts of all CPUs; absent is a kind that this kernel or CPU has not."""
    rows = read.rows(answer)
    if not rows or rows[-1] != "end" or not rows[0].split()[:1] == ["CPU0"]:
        raise Unreadable("not the whole of the lines from /proc/interrupts")
    cpus = [read.whole(word.removeprefix("CPU")) for word in rows[0].split()]
    counts: dict[str, list[int]] = {}
    for row in rows[1:-1]:
        name, *words = row.split() or [""]
        # A row that is shorter than the others is not one count for each CPU.
        if len(words) < len(cpus) or not all(re.fullmatch("[0-9]{1,20}", word) for word in words[: len(cpus)]):
            raise Unreadable(f"not a count for each CPU: {row[:60]!r}")
        counts[name.rstrip(":")] = [int(word) for word in words[: len(cpus)]]
    for leaf, kind in KINDS.items():
        yield f"cpu.mce.{leaf}", sum(counts[kind]) if kind in counts else Absent(f"no {kind} in /proc/interrupts")
    hit = percpu.ranges([cpu for cpu, count in zip(cpus, counts.get("MCE", ()), strict=False) if count])
    yield "cpu.mce.cpus", (tuple(hit.split(",")) if hit else ()) if "MCE" in counts else Absent("no MCE")
