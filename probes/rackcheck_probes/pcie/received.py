"""PCI errors reported to root ports, as counted by the kernel."""

from rackcheck import Class, Facts, Files, Read, integer, probe, read, spell_key

DEVICES = "/sys/bus/pci/devices"
FILES = {kind: f"aer_rootport_total_err_{end}" for kind, end in
         (("correctable", "cor"), ("nonfatal", "nonfatal"), ("fatal", "fatal"))}  # fmt: skip


@probe(
    Read(*(f"{DEVICES}/*/{name}" for name in (*FILES.values(), "class")), cap=4 << 20),
    gives={
        "pcie/*.errors.received.correctable": integer("Correctable errors reported to a root port.", Class.COUNTER),
        "pcie/*.errors.received.nonfatal": integer("Non-fatal errors reported to a root port.", Class.COUNTER),
        "pcie/*.errors.received.fatal": integer("Fatal errors reported to a root port.", Class.COUNTER),
    },
)
def pcie_received(files: Files) -> Facts:
    """Read each root port's counters; the facts of all other functions are absent."""
    for (address,) in files.found(f"{DEVICES}/*/class"):
        for kind, name in FILES.items():
            place = f"{DEVICES}/{address}/{name}"
            yield f"pcie/{spell_key(address)}.errors.received.{kind}", files.read(place, read.whole)
