"""The memory modules, slot by slot."""

from rackcheck import Class, Facts, by_part, collection, flag, integer, probe, quantity, spell_key, text
from rackcheck.parse.host.memory import dmidecode_memory
from rackcheck.parse.host.os import dmidecode
from rackcheck_probes.os.dmi_table import TABLE, devices, installed, maker_text

TEXTS = {"type": "Type", "detail": "Type Detail", "form_factor": "Form Factor", "technology": "Memory Technology"}
MAKERS = {"manufacturer": "Manufacturer", "part_number": "Part Number", "serial": "Serial Number"}
SPEEDS = {"rated": ("Speed",), "configured": ("Configured Memory Speed", "Configured Clock Speed")}

# Before SMBIOS 3.1 the transfer rate's unit was called MHz; the number was the same.
transfers = dmidecode.measured("MT/s", "MHz")


@probe(
    TABLE,
    gives={
        "dimm": collection(
            "Memory modules by the board's name for their slot; empty slots are left out.", alike=("dimm/*.type",)
        ),
        "dimm/*.size": quantity("GiB", "The module's size."),
        "dimm/*.type": text("The kind of memory: DDR4, DDR5, LPDDR5."),
        "dimm/*.detail": text("The kind of module: Synchronous Registered (Buffered)."),
        "dimm/*.form_factor": text("The module's form: DIMM, SODIMM, Row Of Chips."),
        "dimm/*.technology": text("DRAM, or a persistent technology; not reported before SMBIOS 3.2."),
        "dimm/*.speed.rated": quantity("MT/s", "The transfer rate that the module supports."),
        "dimm/*.speed.configured": quantity("MT/s", "The transfer rate at which firmware runs the module."),
        "dimm/*.voltage": quantity("V", "The voltage at which firmware runs the module."),
        "dimm/*.rank": integer("Ranks of the module."),
        "dimm/*.ecc": flag("Whether the module has extra bits for ECC: 72 or 80 bits for 64 data bits."),
        "dimm/*.bank": text("The board's second name for the slot: NODE 1, CPU 1, P0_Node0_Channel0_Dimm0."),
        "dimm/*.channel": text("The memory channel; unknown if the slot's names do not contain it."),
        "dimm/*.manufacturer": text(
            "The module's manufacturer, as the board spells it, or as a number.", Class.IDENTITY
        ),
        "dimm/*.part_number": text("The module's part number.", Class.IDENTITY),
        "dimm/*.serial": text("The module's serial number.", Class.IDENTITY),
    },
)
def dimm(answer: str) -> Facts:
    """Read each module that firmware found; if one field of a slot is unreadable, only this field's fact is unknown."""
    for name, device in dmidecode.named(devices(dmidecode.structures(answer)), "Locator", "Bank Locator"):
        if not installed(device):
            continue
        yield _dimm(f"dimm/{spell_key(name)}", device)


@by_part
def _dimm(item: str, device: dmidecode.Structure) -> Facts:
    yield f"{item}.size", device.value(dmidecode.gibibytes, "Size")
    for leaf, key in TEXTS.items():
        yield f"{item}.{leaf}", device.text(key)
    for leaf, keys in SPEEDS.items():
        yield f"{item}.speed.{leaf}", device.value(transfers, *keys)
    yield f"{item}.voltage", device.value(dmidecode.measured("V"), "Configured Voltage")
    yield f"{item}.rank", device.count("Rank")
    yield f"{item}.ecc", dmidecode_memory.corrects(device)
    yield f"{item}.bank", device.text("Bank Locator")
    yield f"{item}.channel", dmidecode_memory.channel(device)
    for leaf, key in MAKERS.items():
        yield f"{item}.{leaf}", maker_text(device, key)
