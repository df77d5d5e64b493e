"""Features of the CPUs, and their clocks now."""

from rackcheck import Absent, Class, Facts, Shell, integer, listing, probe, quantity, read, text
from rackcheck.parse.host.cpu import cpuinfo

# Most lines are the same for all of 384 CPUs: counting them on the node saves a megabyte of output. From a file with
# size 0, as all files in /proc have, GNU's sort makes files in /tmp; from a pipe it makes no files.
CPUINFO = Shell("[ -r /proc/cpuinfo ] || exit 1; cat /proc/cpuinfo | sort | uniq -c; echo end", quick=True)
NUMBERS = {"cpu.family": "cpu family", "cpu.model_number": "model", "cpu.stepping": "stepping"}
VIRTUAL = ("vmx", "svm")


@probe(
    CPUINFO,
    gives={
        "cpu.family": integer("The CPUs' family number; absent on ARM."),
        "cpu.model_number": integer("The CPUs' model number; absent on ARM."),
        "cpu.stepping": integer("The CPUs' stepping; absent on ARM."),
        "cpu.flags": listing("Features that every CPU has, by the kernel's names."),
        "cpu.flags_differ": listing("Features that some CPUs have and others lack."),
        "cpu.virtualization": text("Support for virtual machines: vmx (Intel), svm (AMD); absent without support."),
        "cpu.clock.least": quantity("MHz", "The clock of the slowest CPU now; absent on ARM.", Class.MEASUREMENT),
        "cpu.clock.mean": quantity("MHz", "The mean clock of all CPUs now; absent on ARM.", Class.MEASUREMENT),
        "cpu.clock.most": quantity("MHz", "The clock of the fastest CPU now; absent on ARM.", Class.MEASUREMENT),
    },
)
def cpu_info(answer: str) -> Facts:
    """Read each distinct line of /proc/cpuinfo and its count; raises Unreadable if family, model or stepping differ."""
    table = cpuinfo.counted(answer)
    for path, key in NUMBERS.items():
        line = cpuinfo.only(table, key)
        yield path, Absent(f"no {key} in /proc/cpuinfo") if line is None else read.whole(line)
    flags = cpuinfo.flags(table)
    if flags is not None:
        offered, differ = flags
        yield "cpu.flags", tuple(sorted(offered))
        yield "cpu.flags_differ", tuple(sorted(differ))
        yield "cpu.virtualization", next((w for w in VIRTUAL if w in offered), Absent("neither vmx nor svm"))
    clocks = cpuinfo.clocks(table)
    none = Absent("no cpu MHz in /proc/cpuinfo")
    yield "cpu.clock.least", none if clocks is None else clocks.least
    yield "cpu.clock.mean", none if clocks is None or clocks.mean is None else clocks.mean
    yield "cpu.clock.most", none if clocks is None else clocks.most
