"""Data about the machine in the part of the DMI table that only root may read: UUID, serial numbers, BIOS features."""

from rackcheck import Class, Facts, listing, probe, quantity, text
from rackcheck.parse.host.os import dmidecode
from rackcheck_probes.os.dmi_table import BIOS, BOARD, CHASSIS, SYSTEM, TABLE, maker_text

SERIALS = {
    "node.uuid": (SYSTEM, "UUID"),
    "node.board_serial": (BOARD, "Serial Number"),
    "node.chassis_serial": (CHASSIS, "Serial Number"),
}


@probe(
    TABLE,
    gives={
        "node.uuid": text("The machine's UUID, from the DMI table.", Class.IDENTITY),
        "node.board_serial": text("The main board's serial number.", Class.IDENTITY),
        "node.chassis_serial": text("The chassis' serial number.", Class.IDENTITY),
        "os.bios.characteristics": listing("Features that the BIOS reports: UEFI is supported, Selectable boot."),
        "os.bios.rom_size": quantity("MiB", "The size of the BIOS chip."),
    },
)
def dmi_root(answer: str) -> Facts:
    """Read the first DMI structure of each type: later structures describe further boards and chassis of a blade."""
    table = dmidecode.structures(answer)
    first = {s.kind: s for s in reversed(table)}
    for path, (kind, key) in SERIALS.items():
        if kind in first:
            yield path, maker_text(first[kind], key)
    if BIOS in first:
        size = first[BIOS].value(dmidecode.gibibytes, "ROM Size")
        yield "os.bios.rom_size", size * 1024 if isinstance(size, float) else size
        yield "os.bios.characteristics", first[BIOS].lists.get("Characteristics", ())
