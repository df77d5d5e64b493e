"""Which microcode the CPUs run."""

from rackcheck import Absent, Facts, probe, version
from rackcheck.parse.host.cpu import cpuinfo
from rackcheck_probes.cpu.info import CPUINFO


# The same number is in each CPU's microcode/version in /sys, but not in a virtual machine, which loads no microcode.
@probe(
    CPUINFO,
    gives={"cpu.microcode": version("opaque", "The CPUs' microcode revision; comma-separated if they differ.")},
)
def microcode(answer: str) -> Facts:
    """Read every CPU's microcode revision; absent if the kernel shows no revision (ARM)."""
    found = sorted(cpuinfo.counted(answer).get("microcode", ()))
    yield "cpu.microcode", ", ".join(found) if found else Absent("no microcode in /proc/cpuinfo")
