"""Every PCI device and its link."""

from rackcheck import (
    Absent,
    Class,
    Facts,
    Files,
    Read,
    Reason,
    Sourced,
    Unreadable,
    collection,
    integer,
    probe,
    quantity,
    spell_key,
    text,
)
from rackcheck.parse.host.pcie import pci

FOLDER = "/sys/bus/pci/devices/{}"
BUS = "/sys/bus/pci/drivers_autoprobe"
"""File that exists on every machine with a PCI bus, even if the bus has no device."""
TEXTS = ("class", "vendor", "device")
LINKS = {"": "current", "max_": "max"}
NAMES = (*TEXTS, *(f"{age}_link_{what}" for age in LINKS.values() for what in ("speed", "width")), "numa_node")


@probe(
    Read(BUS, *(f"{FOLDER.format('*')}/{name}" for name in NAMES), seconds=30, cap=8 << 20),
    gives={
        "pcie": collection("PCI functions by address, as the kernel spells it."),
        "pcie/*.class": text(
            "The class code: 0x030200 a GPU, 0x020700 an InfiniBand NIC, 0x068000 an NVSwitch.", Class.IDENTITY
        ),
        "pcie/*.vendor": text("The vendor id: 0x10de NVIDIA, 0x15b3 Mellanox, 0x1002 AMD.", Class.IDENTITY),
        "pcie/*.device": text("The device id, as the vendor assigned it.", Class.IDENTITY),
        "pcie/*.link.speed": quantity("GT/s", "The link's speed now; idle GPUs lower their speed.", Class.MEASUREMENT),
        "pcie/*.link.max_speed": quantity("GT/s", "The highest speed of the device's end of the link."),
        "pcie/*.link.width": integer("Lanes that the link trained; absent without a link."),
        "pcie/*.link.max_width": integer("Lanes of the device's end of the link."),
        "pcie/*.numa": integer("The device's NUMA node; absent if firmware does not report it."),
    },
)
def pcie(files: Files) -> Facts:
    """Read each PCI function's identity, link and NUMA node."""
    addresses = [address for (address,) in files.found(FOLDER.format("*") + "/class")]
    if not addresses and not files.has(BUS):
        raise Unreadable("no /sys/bus/pci, so the devices on the bus are unknown", Reason.NOT_COLLECTED)
    for address in addresses:
        item, folder = f"pcie/{spell_key(address)}", FOLDER.format(address)
        for name in TEXTS:
            yield f"{item}.{name}", files.read(f"{folder}/{name}")
        for spelt, age in LINKS.items():
            speed, width = f"{folder}/{age}_link_speed", f"{folder}/{age}_link_width"
            none = files.contents.get(width, "").strip() in pci.NO_LINK
            for leaf, place, reader in (("speed", speed, pci.gigatransfers), ("width", width, pci.lanes)):
                sourced = Sourced(Absent("no link"), place) if none else files.read(place, reader)
                yield f"{item}.link.{spelt}{leaf}", sourced
        yield f"{item}.numa", pci.numa(files, folder)
