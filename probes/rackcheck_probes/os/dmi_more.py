"""Data about the system, board, chassis and BIOS in the part of the DMI table that every user may read."""

from rackcheck import Class, Facts, Files, Read, probe, text, version
from rackcheck.model.fact import Reason, Unreadable
from rackcheck.model.text.values import whole
from rackcheck_probes.os.dmi import filled

FOLDER = "/sys/class/dmi/id"
TEXTS = {
    "node.product_version": ("product_version", text("The system's version, as its vendor writes it.", Class.IDENTITY)),
    "node.family": ("product_family", text("The product family that the system belongs to.", Class.IDENTITY)),
    "node.sku": ("product_sku", text("The system's order number (SKU).", Class.IDENTITY)),
    "node.board_vendor": ("board_vendor", text("The main board's manufacturer.", Class.IDENTITY)),
    "node.board_version": ("board_version", text("The main board's version.", Class.IDENTITY)),
    "node.chassis_vendor": ("chassis_vendor", text("The chassis' manufacturer.", Class.IDENTITY)),
    "node.asset_tag": ("chassis_asset_tag", text("The chassis' asset tag, set by the owner.", Class.IDENTITY)),
    "os.bios.release": (
        "bios_release", version("dotted", "The BIOS release, as major.minor; absent on kernels before 5.8.")
    ),
    "os.bios.ec_release": (
        "ec_firmware_release",
        version("dotted", "The embedded controller's firmware release; absent on kernels before 5.8."),
    ),
}  # fmt: skip
"""Maps each fact to the name of its file in the DMI folder, and to the fact's kind."""
TYPE = f"{FOLDER}/chassis_type"


@probe(
    Read(TYPE, *(f"{FOLDER}/{name}" for name, _ in TEXTS.values())),
    gives={
        "node.chassis_type": text("The kind of chassis: Rack Mount Chassis, Main Server Chassis."),
        **{path: kind for path, (_, kind) in TEXTS.items()},
    },
)
def dmi_more(files: Files) -> Facts:
    """Read the values of the DMI table that the kernel shows; a value that the table or this kernel lacks is absent."""
    for path, (name, _) in TEXTS.items():
        yield path, files.read(f"{FOLDER}/{name}", filled)
    yield "node.chassis_type", files.read(TYPE, chassis)


# Words of the SMBIOS specification for the table's numbers, which the kernel shows unchanged.


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
    """Return the name of a chassis type; raises Unreadable on the type `Unknown` and on an undefined number."""
    number = whole(content)
    if not 0 < number < len(CHASSIS) or number == 2:
        raise Unreadable(f"chassis type {number} is undefined or means unknown", Reason.NOT_COLLECTED)
    return CHASSIS[number]
