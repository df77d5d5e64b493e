"""The physical chassis slot of each PCI function."""

import re

from rackcheck import Absent, Class, Facts, Files, Read, Sourced, Unreadable, probe, read, spell_key, text
from rackcheck.model.fact import clean

SLOTS, DEVICES = "/sys/bus/pci/slots/*/address", "/sys/bus/pci/devices/*/class"


@probe(
    Read(SLOTS, DEVICES, cap=4 << 20),
    gives={
        "pcie/*.slot.name": text(
            "The chassis slot by its name in firmware; absent if firmware names no slot.", Class.IDENTITY
        ),
    },
)
def pcie_slots(files: Files) -> Facts:
    """Read each slot's PCI address, which is that of a device: all functions of the device are in the slot."""
    names: dict[str, tuple[str, str]] = {}
    for (name,) in files.found(SLOTS):
        place = SLOTS.replace("*", name)
        address = read.line(files.text(place))
        if not re.fullmatch(r"[0-9a-f]{4,8}:[0-9a-f]{2}(:[0-9a-f]{2})?", address):
            raise Unreadable(f"not the address of a slot: {clean(address, 40)!r}")
        names.setdefault(address, (name, place))
    for (address,) in files.found(DEVICES):
        device = address.rpartition(".")[0]
        # With hot-plug firmware, a slot may only name the bus.
        slot = names.get(device) or names.get(device.rpartition(":")[0])
        yield (
            f"pcie/{spell_key(address)}.slot.name",
            Sourced(slot[0], slot[1]) if slot else Absent("firmware names no slot for this function"),
        )
