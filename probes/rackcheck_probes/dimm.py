"""Which memory modules there are, slot by slot."""

import re

from rackcheck import Class, Facts, Reason, Unknown, collection, flag, integer, probe, quantity, spell_key, text
from rackcheck.core.read import dmidecode
from rackcheck_probes.dmi_table import TABLE, devices, installed, told

TEXTS = {"type": "Type", "detail": "Type Detail", "form_factor": "Form Factor", "technology": "Memory Technology"}
MAKERS = {"manufacturer": "Manufacturer", "part_number": "Part Number", "serial": "Serial Number"}
SPEEDS = {"rated": ("Speed",), "configured": ("Configured Memory Speed", "Configured Clock Speed")}
CHANNEL = re.compile(r"(.{0,64}?channel[ _-]?[a-z0-9]{1,2})(?![a-z0-9]).{0,64}", re.IGNORECASE)

# Before SMBIOS 3.1 the transfer rate's unit was called MHz; the number was the same.
transfers = dmidecode.measured("MT/s", "MHz")


def channel(device: dmidecode.Structure) -> str | Unknown:
    """Give the channel where the slot's text says it: `ChannelA-DIMM0`, `P0_Node0_Channel0_Dimm0`."""
    for key in ("Locator", "Bank Locator"):
        match = CHANNEL.fullmatch(device.said(key) or "")
        if match is not None:
            return match[1].strip()
    shown = f"{device.fields.get('Locator', '')}, {device.fields.get('Bank Locator', '')}"
    return Unknown(Reason.NOT_COLLECTED, f"the slot's text names no channel: {shown[:80]}")


def corrects(device: dmidecode.Structure) -> bool | Unknown:
    """Tell whether the module has bits beyond its data: what ECC is kept in."""
    total, data = (device.value(dmidecode.measured("bits"), f"{word} Width") for word in ("Total", "Data"))
    if isinstance(total, Unknown) or isinstance(data, Unknown):
        return total if isinstance(total, Unknown) else device.unsaid("Data Width")
    return total > data


@probe(
    TABLE,
    gives={
        "dimm": collection("Memory modules by the board's name for their slot; empty slots are none."),
        "dimm/*.size": quantity("GiB", "The module's size."),
        "dimm/*.type": text("The kind of memory: DDR4, DDR5, LPDDR5."),
        "dimm/*.detail": text("What kind of module it is: Synchronous Registered (Buffered)."),
        "dimm/*.form_factor": text("The module's form: DIMM, SODIMM, Row Of Chips."),
        "dimm/*.technology": text("DRAM, or what keeps data without power; not told before SMBIOS 3.2."),
        "dimm/*.speed.rated": quantity("MT/s", "The transfer rate that the module can do."),
        "dimm/*.speed.configured": quantity("MT/s", "The transfer rate at which firmware runs the module."),
        "dimm/*.voltage": quantity("V", "The voltage at which firmware runs the module."),
        "dimm/*.rank": integer("Ranks of the module."),
        "dimm/*.ecc": flag("Whether the module has bits beyond its data, for ECC: 72 of 64, 80 of 64."),
        "dimm/*.bank": text("The board's second name for the slot: NODE 1, CPU 1, P0_Node0_Channel0_Dimm0."),
        "dimm/*.channel": text("The memory channel; unknown where the slot's names do not say it."),
        "dimm/*.manufacturer": text("Who made the module, as its board spells it, or as a number.", Class.IDENTITY),
        "dimm/*.part_number": text("The module's part number.", Class.IDENTITY),
        "dimm/*.serial": text("The module's serial number.", Class.IDENTITY),
    },
)
def dimm(answer: str) -> Facts:
    """Read each module that firmware found; a slot with an odd text costs that fact only."""
    for name, device in dmidecode.named(devices(dmidecode.structures(answer)), "Locator", "Bank Locator"):
        if not installed(device):
            continue
        item = f"dimm/{spell_key(name)}"
        yield f"{item}.size", device.value(dmidecode.gibibytes, "Size")
        for leaf, key in TEXTS.items():
            yield f"{item}.{leaf}", device.text(key)
        for leaf, keys in SPEEDS.items():
            yield f"{item}.speed.{leaf}", device.value(transfers, *keys)
        yield f"{item}.voltage", device.value(dmidecode.measured("V"), "Configured Voltage")
        yield f"{item}.rank", device.count("Rank")
        yield f"{item}.ecc", corrects(device)
        yield f"{item}.bank", device.text("Bank Locator")
        yield f"{item}.channel", channel(device)
        for leaf, key in MAKERS.items():
            yield f"{item}.{leaf}", told(device, key)
