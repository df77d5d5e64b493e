"""The question for what firmware says of the machine, which several probes share."""

from rackcheck import Reason, Shell, Unknown, Unreadable
from rackcheck.parse.host.os.dmidecode import Structure
from rackcheck_probes.os.dmi import filled

# Only root may read the table: the kernel's files of it (/sys/firmware/dmi) are as closed as /dev/mem. The types are
# BIOS, system, board, chassis, processor, slot, memory array, memory device, and the end, by which a whole answer is
# told. Without -q: with it, the end is not printed.
TABLE = Shell("dmidecode -t 0,1,2,3,4,9,16,17,127", root=True)

BIOS, SYSTEM, BOARD, CHASSIS, PROCESSOR, SLOT, MEMORY_ARRAY, MEMORY_DEVICE = 0, 1, 2, 3, 4, 9, 16, 17


def maker_text(structure: Structure, *keys: str) -> str | Unknown:
    """Give a text that the maker wrote; a placeholder is not it."""
    reading = structure.text(*keys)
    if isinstance(reading, Unknown):
        return reading
    try:
        return filled(reading)
    except Unreadable as error:
        return Unknown(Reason.NOT_COLLECTED, f"dmidecode {structure.handle}: {keys[0]}: {error}")


def devices(table: tuple[Structure, ...]) -> list[Structure]:
    """Give the memory slots: not the devices of arrays that are flash, cache or video memory."""
    uses = {s.handle: s.said("Use") for s in table if s.kind == MEMORY_ARRAY}
    return [
        s
        for s in table
        if s.kind == MEMORY_DEVICE
        and uses.get(s.fields.get("Array Handle", "").upper().replace("X", "x")) in (None, "System Memory")
    ]


def installed(device: Structure) -> bool:
    """Whether there is a module in a slot; of an unknown size there is one."""
    return device.fields.get("Size", "") not in ("No Module Installed", "Not Installed")
