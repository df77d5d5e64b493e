"""Whether something foreign or broken is in the kernel: the example of probes/README.md, with a fact of its own."""

from rackcheck import Facts, Files, Read, integer, probe
from rackcheck.core import read

PLACE = "/proc/sys/kernel/tainted"


@probe(Read(PLACE), gives={"site.tainted": integer("The kernel's taint bits: 0 clean.")})
def site_tainted(files: Files) -> Facts:
    """Read the kernel's taint mask."""
    yield "site.tainted", files.read(PLACE, read.whole)
