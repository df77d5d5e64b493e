"""Power supplies as the BMC sees them."""

from rackcheck import Class, Documents, Facts, Redfish, Walk, collection, probe, quantity, spell_key, text, version
from rackcheck.model.redfish_value import amount, health
from rackcheck.parse.bmc.item import fitted, keyed
from rackcheck.parse.bmc.power import SHELVES, supplies


@probe(
    Redfish("Chassis/*/PowerSubsystem/PowerSupplies/*", "Chassis/*/Power", Walk(f"else {SHELVES}", supplies)),
    gives={
        "psu": collection("power supply slots, empty ones too", alike=(), vacant="psu/*.state"),
        "psu/*.state": text("Enabled, or Absent for an empty slot"),
        "psu/*.health": text("OK, Warning or Critical, as the BMC judges it"),
        "psu/*.model": text("model", Class.IDENTITY),
        "psu/*.serial": text("serial number", Class.IDENTITY),
        "psu/*.firmware": version("opaque", "firmware; mixed ones share the load badly"),
        "psu/*.capacity": quantity("W", "what it can deliver at most"),
    },
)
def bmc_power(docs: Documents) -> Facts:
    """Every power supply: fitted, healthy, alike."""
    found, trouble = supplies(docs)
    for key, supply in keyed(found):
        item = f"psu/{spell_key(key)}"
        yield f"{item}.state", supply.read("Status.State")
        yield f"{item}.health", fitted(supply, "Status.Health", health)
        yield f"{item}.model", fitted(supply, "Model")
        yield f"{item}.serial", fitted(supply, "SerialNumber")
        yield f"{item}.firmware", fitted(supply, "FirmwareVersion")
        yield f"{item}.capacity", fitted(supply, "PowerCapacityWatts", amount)
    if trouble is not None:
        yield "psu", trouble
