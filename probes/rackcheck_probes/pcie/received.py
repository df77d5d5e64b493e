"""PCI errors that root ports were told of, as the kernel has counted them."""

from rackcheck import Class, Facts, Files, Read, integer, probe, spell_key
from rackcheck.model import text as read

DEVICES = "/sys/bus/pci/devices"
FILES = {kind: f"aer_rootport_total_err_{end}" for kind, end in
         (("correctable", "cor"), ("nonfatal", "nonfatal"), ("fatal", "fatal"))}  # fmt: skip


@probe(
    Read(*(f"{DEVICES}/*/{name}" for name in (*FILES.values(), "class")), cap=4 << 20),
    gives={
        "pcie/*.errors.received.correctable": integer("Correctable errors a root port was told of.", Class.COUNTER),
        "pcie/*.errors.received.nonfatal": integer("Non-fatal errors a root port was told of.", Class.COUNTER),
        "pcie/*.errors.received.fatal": integer("Fatal errors a root port was told of.", Class.COUNTER),
    },
)
def pcie_received(files: Files) -> Facts:
    """Read each root port's counters; absent at all other functions."""
    for (address,) in files.found(f"{DEVICES}/*/class"):
        for kind, name in FILES.items():
            place = f"{DEVICES}/{address}/{name}"
            yield f"pcie/{spell_key(address)}.errors.received.{kind}", files.read(place, read.whole)
