"""Which microcode the CPUs run."""

from rackcheck import Absent, Facts, probe, version
from rackcheck.parse.host.cpu import cpuinfo
from rackcheck_probes.cpu.info import CPUINFO


# The same number stands in each CPU's microcode/version in /sys, but not in a virtual machine, where nobody loads any.
@probe(
    CPUINFO,
    gives={
        "cpu.microcode": version("opaque", "The CPUs' microcode revision; several, parted by commas, if they differ.")
    },
)
def microcode(answer: str) -> Facts:
    """Read every CPU's microcode revision; absent where the kernel shows none (ARM)."""
    found = sorted(cpuinfo.counted(answer).get("microcode", ()))
    yield "cpu.microcode", ", ".join(found) if found else Absent("no microcode in /proc/cpuinfo")
