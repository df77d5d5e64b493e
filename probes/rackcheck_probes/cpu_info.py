"""What the CPUs can do, and how fast they run now."""

import re

from rackcheck import Absent, Class, Facts, Shell, Unreadable, integer, listing, probe, quantity, text
from rackcheck.core import read

# Most lines are the same for all of 384 CPUs: the node counts them, or this would be a megabyte.
CPUINFO = Shell("sort /proc/cpuinfo | uniq -c; echo end", quick=True)
NUMBERS = {"cpu.family": "cpu family", "cpu.model_number": "model", "cpu.stepping": "stepping"}
VIRTUAL = ("vmx", "svm")


def counted(answer: str) -> dict[str, dict[str, int]]:
    """Read how many CPUs say what of each key."""
    rows = read.rows(answer)
    if not rows or rows[-1] != "end":
        raise Unreadable("not the whole of the counted /proc/cpuinfo")
    found: dict[str, dict[str, int]] = {}
    for row in rows[:-1]:
        match = re.fullmatch(r" *([0-9]{1,6}) ([^:]{1,40}?)\s*: ?(.*)", row)
        if match is not None:
            found.setdefault(match[2], {})[match[3].strip()] = int(match[1])
    if "processor" not in found and "Processor" not in found:
        raise Unreadable("no processor in /proc/cpuinfo")
    return found


@probe(
    CPUINFO,
    gives={
        "cpu.family": integer("The CPUs' family number; absent on ARM."),
        "cpu.model_number": integer("The CPUs' model number; absent on ARM."),
        "cpu.stepping": integer("The CPUs' stepping; absent on ARM."),
        "cpu.flags": listing("What every CPU can do, in the kernel's words."),
        "cpu.flags_differ": listing("What some CPUs can do and others cannot."),
        "cpu.virtualization": text("How the CPUs run virtual machines: vmx (Intel), svm (AMD); absent where not."),
        "cpu.clock.least": quantity("MHz", "The clock of the slowest CPU now; absent on ARM.", Class.MEASUREMENT),
        "cpu.clock.mean": quantity("MHz", "The mean clock of all CPUs now; absent on ARM.", Class.MEASUREMENT),
        "cpu.clock.most": quantity("MHz", "The clock of the fastest CPU now; absent on ARM.", Class.MEASUREMENT),
    },
)
def cpu_info(answer: str) -> Facts:
    """Read the counted lines; CPUs that differ in family, model or stepping make that unreadable."""
    table = counted(answer)
    for path, key in NUMBERS.items():
        told = list(table.get(key, ()))
        if len(told) > 1:
            raise Unreadable(f"CPUs differ in {key}: {', '.join(sorted(told)[:8])}")
        yield path, read.whole(told[0]) if told else Absent(f"no {key} in /proc/cpuinfo")
    sets = [set(flags.split()) for key in ("flags", "Features") for flags in table.get(key, ())]
    if sets:
        offered = sets[0].intersection(*sets)
        yield "cpu.flags", tuple(sorted(offered))
        yield "cpu.flags_differ", tuple(sorted(sets[0].union(*sets) - offered))
        yield "cpu.virtualization", next((w for w in VIRTUAL if w in offered), Absent("neither vmx nor svm"))
    clocks = {read.number(clock): count for clock, count in table.get("cpu MHz", {}).items()}
    total = sum(clock * count for clock, count in clocks.items())
    none = Absent("no cpu MHz in /proc/cpuinfo")
    yield "cpu.clock.least", min(clocks) if clocks else none
    yield "cpu.clock.mean", total / sum(clocks.values()) if clocks and sum(clocks.values()) else none
    yield "cpu.clock.most", max(clocks) if clocks else none
