"""Which microcode the CPUs run."""

from rackcheck import Absent, Facts, Files, Read, Sourced, probe, version
from rackcheck.core import read

GLOB = "/sys/devices/system/cpu/cpu*/microcode/version"


@probe(
    Read(GLOB, seconds=30),
    gives={
        "cpu.microcode": version("opaque", "The CPUs' microcode revision; several, parted by commas, if they differ.")
    },
)
def microcode(files: Files) -> Facts:
    """Read every CPU's microcode revision; absent where the kernel shows none (virtual machines, ARM)."""
    found = {read.line(files.text(GLOB.replace("*", number))) for (number,) in files.found(GLOB)}
    yield "cpu.microcode", Sourced(", ".join(sorted(found)) if found else Absent(f"no {GLOB}"), GLOB)
