"""Power supplies as firmware describes them; many boards do not fill these fields."""

from rackcheck import Class, Facts, Shell, collection, probe, spell_key, text
from rackcheck.parse.host.os import dmidecode
from rackcheck_probes.os.dmi_table import maker_text

# A command of its own: a login whose sudoers list is older than this probe may still run the query of the other types.
SUPPLIES = Shell("dmidecode -t 39,127", root=True)
SUPPLY = 39
MAKERS = {
    "model": "Name",
    "manufacturer": "Manufacturer",
    "serial": "Serial Number",
    "part_number": "Model Part Number",
}


@probe(
    SUPPLIES,
    gives={
        "node.psu": collection("Power supplies by the board's names; slots that firmware marks as empty are left out."),
        "node.psu/*.model": text("The power supply's name.", Class.IDENTITY),
        "node.psu/*.manufacturer": text("The power supply's manufacturer.", Class.IDENTITY),
        "node.psu/*.serial": text("The power supply's serial number.", Class.IDENTITY),
        "node.psu/*.part_number": text("The power supply's part number.", Class.IDENTITY),
        "node.psu/*.status": text("Whether firmware found the power supply: `Present, OK`, `Not Present`."),
    },
)
def power_supplies(answer: str) -> Facts:
    """Read each power supply that firmware describes, except empty slots."""
    found = [s for s in dmidecode.structures(answer) if s.kind == SUPPLY]
    for name, supply in dmidecode.named(found, "Location", "Name"):
        if supply.fields.get("Status", "").startswith("Not Present"):
            continue
        item = f"node.psu/{spell_key(name)}"
        for leaf, key in MAKERS.items():
            yield f"{item}.{leaf}", maker_text(supply, key)
        yield f"{item}.status", supply.text("Status")
