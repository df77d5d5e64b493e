"""The firmware inventory of the BMC."""

from rackcheck import Documents, Facts, Redfish, collection, flag, probe, spell_key, text, version
from rackcheck.core.item import keyed, members
from rackcheck.core.resource import truth

INVENTORY = "UpdateService/FirmwareInventory"


@probe(
    Redfish(f"{INVENTORY}/*"),
    gives={
        "firmware.component": collection("firmware the BMC lists; some list former and backup copies too"),
        "firmware.component/*.version": version("opaque", "version as the BMC spells it"),
        "firmware.component/*.name": text("what it is; some BMCs number the Ids"),
        "firmware.component/*.updateable": flag("can be updated through the BMC"),
    },
)
def bmc_firmware(docs: Documents) -> Facts:
    """Every component's firmware version."""
    components, trouble = members(docs, INVENTORY)
    for key, component in keyed(components):
        item = f"firmware.component/{spell_key(key)}"
        yield f"{item}.version", component.read("Version")
        yield f"{item}.name", component.read("Name")
        yield f"{item}.updateable", component.read("Updateable", truth)
    if trouble is not None:
        yield "firmware.component", trouble
