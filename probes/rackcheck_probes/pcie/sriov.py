"""Virtual functions: how many each PCI function has, and which functions are virtual themselves."""

from rackcheck import Facts, Files, Read, flag, integer, probe, read, spell_key

DEVICES = "/sys/bus/pci/devices"
NAMES = ("sriov_totalvfs", "sriov_numvfs", "sriov_drivers_autoprobe", "physfn/vendor", "class")


@probe(
    Read(*(f"{DEVICES}/*/{name}" for name in NAMES), seconds=30, cap=8 << 20),
    gives={
        "pcie/*.vf.total": integer("Virtual functions that the function supports; absent without SR-IOV."),
        "pcie/*.vf.enabled": integer("Virtual functions that the function has."),
        "pcie/*.vf.autoprobe": flag("Whether new virtual functions are bound to a driver of this node."),
        "pcie/*.virtual": flag("Whether the function is itself virtual."),
    },
)
def pcie_sriov(files: Files) -> Facts:
    """Read how many virtual functions each PCI function has; a function with a link `physfn` is itself virtual."""
    for (address,) in files.found(f"{DEVICES}/*/class"):
        item, folder = f"pcie/{spell_key(address)}", f"{DEVICES}/{address}"
        yield f"{item}.vf.total", files.read(f"{folder}/sriov_totalvfs", read.whole)
        yield f"{item}.vf.enabled", files.read(f"{folder}/sriov_numvfs", read.whole)
        yield f"{item}.vf.autoprobe", files.read(f"{folder}/sriov_drivers_autoprobe", read.bit)
        yield f"{item}.virtual", files.has(f"{folder}/physfn/vendor")
