"""The driver of each PCI function, and the vendor of its card."""

from rackcheck import Absent, Class, Facts, Files, Read, Sourced, probe, spell_key, text
from rackcheck.parse.host.pcie import pci

DEVICES = "/sys/bus/pci/devices"
CARD = ("subsystem_vendor", "subsystem_device", "revision")


@probe(
    Read(*(f"{DEVICES}/*/{name}" for name in (*CARD, "uevent", "class")), seconds=30, cap=8 << 20),
    gives={
        "pcie/*.driver": text("The driver bound to the function: nvidia, mlx5_core, vfio-pci; absent without one."),
        "pcie/*.subsystem_vendor": text("The vendor of the card that the function is on.", Class.IDENTITY),
        "pcie/*.subsystem_device": text("The card's id, as its vendor assigned it.", Class.IDENTITY),
        "pcie/*.revision": text("The revision of the silicon.", Class.IDENTITY),
    },
)
def pcie_driver(files: Files) -> Facts:
    """Read the driver of each PCI function, and the vendor of its card."""
    for (address,) in files.found(f"{DEVICES}/*/class"):
        item, folder = f"pcie/{spell_key(address)}", f"{DEVICES}/{address}"
        name = files.read(f"{folder}/uevent", pci.driver)
        yield f"{item}.driver", Sourced(Absent("no driver"), name.source) if name.reading == "" else name
        for leaf in CARD:
            yield f"{item}.{leaf}", files.read(f"{folder}/{leaf}", pci.code)
