"""Words of the SMBIOS specification for numbers that the kernel shows as they stand in the table."""

from rackcheck.model.fact import Reason, Unreadable
from rackcheck.model.text.values import whole

# System Management BIOS Reference Specification (DMTF DSP0134), System Enclosure or Chassis Types.
CHASSIS = (
    "", "Other", "Unknown", "Desktop", "Low Profile Desktop", "Pizza Box", "Mini Tower", "Tower", "Portable", "Laptop",
    "Notebook", "Hand Held", "Docking Station", "All in One", "Sub Notebook", "Space-saving", "Lunch Box",
    "Main Server Chassis", "Expansion Chassis", "Sub Chassis", "Bus Expansion Chassis", "Peripheral Chassis",
    "RAID Chassis", "Rack Mount Chassis", "Sealed-case PC", "Multi-system Chassis", "Compact PCI", "Advanced TCA",
    "Blade", "Blade Enclosure", "Tablet", "Convertible", "Detachable", "IoT Gateway", "Embedded PC", "Mini PC",
    "Stick PC",
)  # fmt: skip


def chassis(content: str) -> str:
    """Give the word of a chassis type's number; raises Unreadable on `Unknown` and on one without a word."""
    number = whole(content)
    if not 0 < number < len(CHASSIS) or number == 2:
        raise Unreadable(f"chassis type {number}", Reason.NOT_COLLECTED)
    return CHASSIS[number]
