"""Position of each PCI function: the port above it, its root port, its host bridge."""

from rackcheck import Absent, Class, Facts, Shell, probe, spell_key, text
from rackcheck.parse.host.pcie import pci_tree

ROOT = Absent("on a root bus")


@probe(
    Shell("ls -l /sys/bus/pci/devices", quick=True),
    gives={
        "pcie/*.upstream": text("The address of the port above; absent on a root bus.", Class.IDENTITY),
        "pcie/*.root": text("The address of the function's root port; absent on a root bus.", Class.IDENTITY),
        "pcie/*.host_bridge": text("The domain and bus of the function's root bus: 0000:17.", Class.IDENTITY),
    },
)
def pcie_tree(answer: str) -> Facts:
    """Read the symbolic links in /sys/bus/pci/devices, whose targets contain all ports above each PCI function."""
    for place in pci_tree.places(answer):
        item = f"pcie/{spell_key(place.address)}"
        yield f"{item}.upstream", place.ports[-1] if place.ports else ROOT
        yield f"{item}.root", place.ports[0] if place.ports else ROOT
        yield f"{item}.host_bridge", place.bridge
