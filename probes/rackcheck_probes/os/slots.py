"""Which expansion slots the board has, and which are in use."""

import re

from rackcheck import Absent, Facts, collection, probe, spell_key, text
from rackcheck.parse.host.os import dmidecode
from rackcheck_probes.os.dmi_table import SLOT, TABLE


@probe(
    TABLE,
    gives={
        "node.slot": collection("Expansion slots by the board's names."),
        "node.slot/*.type": text("The slot's type: x16 PCI Express 4, x4 M.2 Socket 3; unknown with older tools."),
        "node.slot/*.usage": text("Whether a card is in the slot: In Use, Available, Unavailable."),
        "node.slot/*.pci": text("The PCI address of the slot's device; absent if the board reports none."),
    },
)
def slots(answer: str) -> Facts:
    """Read each slot from the DMI table, whose description of a slot may differ from the slot's wiring."""
    found = [s for s in dmidecode.structures(answer) if s.kind == SLOT]
    for name, structure in dmidecode.named(found, "Designation"):
        item = f"node.slot/{spell_key(name)}"
        yield f"{item}.type", structure.text("Type")
        yield f"{item}.usage", structure.text("Current Usage")
        at = structure.fields.get("Bus Address", "").lower()
        # Bus ff is what a board writes for an empty slot, and segment ff for one that is not PCI.
        given = re.fullmatch(r"(?!00ff:)[0-9a-f]{4}:(?!ff)[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", at)
        yield f"{item}.pci", at if given else Absent(f"Bus Address names no PCI device: {at[:40] or 'not reported'}")
