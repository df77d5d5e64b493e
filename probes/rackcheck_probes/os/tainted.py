"""Whether foreign or broken code has run in the kernel."""

from rackcheck import Facts, Files, Read, integer, probe, read

PLACE = "/proc/sys/kernel/tainted"


# A mask of bits that stay set until the next boot: it is compared between nodes like a setting, not like a counter.
@probe(
    Read(PLACE),
    gives={
        "kernel.tainted": integer(
            "The kernel's taint bits: 0 clean; 1 proprietary module, 16 machine check, 512 warning, 4096 module from "
            "outside the tree, 8192 unsigned module, 16384 soft lockup."
        )
    },
)
def tainted(files: Files) -> Facts:
    """Read the kernel's taint mask."""
    yield "kernel.tainted", files.read(PLACE, read.whole)
