"""The query of firmware's DMI table, shared by several probes."""

from rackcheck import Reason, Shell, Unknown, Unreadable
from rackcheck.parse.host.os.dmidecode import Structure
from rackcheck_probes.os.dmi import filled

# Only root may read the table: the kernel's copies (/sys/firmware/dmi) are as protected as /dev/mem. The types are
# BIOS, system, board, chassis, processor, slot, memory array, memory device, and the end, which shows that the answer
# is complete. Without -q: with it, the end is not printed.
TABLE = Shell("dmidecode -t 0,1,2,3,4,9,16,17,127", root=True)

BIOS, SYSTEM, BOARD, CHASSIS, PROCESSOR, SLOT, MEMORY_ARRAY, MEMORY_DEVICE = 0, 1, 2, 3, 4, 9, 16, 17


def maker_text(structure: Structure, *keys: str) -> str | Unknown:
    """Return a text that the manufacturer wrote, or unknown for a placeholder."""
    reading = structure.text(*keys)
    if isinstance(reading, Unknown):
        return reading
    try:
        return filled(reading)
    except Unreadable as error:
        return Unknown(Reason.NOT_COLLECTED, f"dmidecode {structure.handle}: {keys[0]}: {error}")


def devices(table: tuple[Structure, ...]) -> list[Structure]:
    """Return the memory devices that are slots for system memory; flash, cache and video memory are left out."""
    uses = {s.handle: s.first("Use") for s in table if s.kind == MEMORY_ARRAY}
    return [
        s
        for s in table
        if s.kind == MEMORY_DEVICE
        and uses.get(s.fields.get("Array Handle", "").upper().replace("X", "x")) in (None, "System Memory")
    ]


def installed(device: Structure) -> bool:
    """Whether a memory slot has a module; a module of unknown size counts as a module."""
    return device.fields.get("Size", "") not in ("No Module Installed", "Not Installed")
