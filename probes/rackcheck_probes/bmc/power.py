"""Power supplies as the BMC reports them."""

from rackcheck import Class, Documents, Facts, Redfish, Walk, collection, probe, quantity, spell_key, text, version
from rackcheck.model.redfish_value import amount
from rackcheck.parse.bmc.item import fitted, health_of, keyed, state_of
from rackcheck.parse.bmc.part import identified
from rackcheck.parse.bmc.power import SHELVES, supplies


@probe(
    Redfish("Chassis/*/PowerSubsystem/PowerSupplies/*", "Chassis/*/Power", Walk(f"or {SHELVES}", supplies)),
    gives={
        "psu": collection("power supply slots, including empty ones", alike=(), vacant="psu/*.state"),
        "psu/*.state": text("Enabled, or Absent for an empty slot"),
        "psu/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "psu/*.model": text("model", Class.IDENTITY),
        "psu/*.serial": text("serial number", Class.IDENTITY),
        "psu/*.firmware": version("opaque", "firmware; supplies with different versions may share the load unequally"),
        "psu/*.capacity": quantity("W", "highest power that the supply can deliver"),
    },
)
def bmc_power(docs: Documents) -> Facts:
    """Presence, health and model of every power supply."""
    found, trouble = supplies(docs)
    for key, supply in keyed(found):
        item = f"psu/{spell_key(key)}"
        yield f"{item}.state", state_of(supply)
        yield f"{item}.health", health_of(supply)
        yield f"{item}.model", fitted(supply, "Model")
        yield f"{item}.serial", identified(supply, "SerialNumber")
        yield f"{item}.firmware", fitted(supply, "FirmwareVersion")
        yield f"{item}.capacity", fitted(supply, "PowerCapacityWatts", amount)
    if trouble is not None:
        yield "psu", trouble
