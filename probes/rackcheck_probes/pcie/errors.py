"""PCI errors counted by the kernel, per function."""

from rackcheck import Class, Facts, Files, Read, Sourced, integer, listing, probe, spell_key
from rackcheck.parse.host.pcie import pci

DEVICES = "/sys/bus/pci/devices"
KINDS = ("correctable", "nonfatal", "fatal")


@probe(
    Read(*(f"{DEVICES}/*/{name}" for name in (*(f"aer_dev_{k}" for k in KINDS), "class")), seconds=30, cap=8 << 20),
    gives={
        "pcie/*.errors.correctable": integer(
            "Correctable errors of the function since boot, unless firmware handles them.",
            Class.COUNTER,
        ),
        "pcie/*.errors.nonfatal": integer(
            "Non-fatal errors since boot: uncorrectable errors after which the link is still reliable.", Class.COUNTER
        ),
        "pcie/*.errors.fatal": integer(
            "Fatal errors since boot: uncorrectable errors after which the link is no longer reliable.", Class.COUNTER
        ),
        "pcie/*.errors.seen": listing(
            "Names of the errors that were counted: correctable BadTLP, nonfatal CmpltTO.", Class.COUNTER
        ),
    },
)
def pcie_errors(files: Files) -> Facts:
    """Read each function's counters; the facts are absent if the function or the kernel has no counters."""
    for (address,) in files.found(f"{DEVICES}/*/class"):
        item, folder = f"pcie/{spell_key(address)}.errors", f"{DEVICES}/{address}"
        for kind in KINDS:
            yield f"{item}.{kind}", files.read(f"{folder}/aer_dev_{kind}", pci.total)
        values = {kind: files.read(f"{folder}/aer_dev_{kind}", pci.seen).reading for kind in KINDS}
        yield f"{item}.seen", Sourced(pci.together(values), f"{folder}/aer_dev_*")
