"""Power supplies as the BMC reports them."""

from rackcheck import (
    Class,
    Documents,
    Facts,
    Redfish,
    Walk,
    collection,
    flag,
    probe,
    quantity,
    spell_key,
    text,
    version,
)
from rackcheck.model.redfish_value import amount, truth
from rackcheck.parse.bmc.chassis import CHASSIS
from rackcheck.parse.bmc.item import fitted, health_of, keyed, state_of
from rackcheck.parse.bmc.part import identified, named_first
from rackcheck.parse.bmc.power import SHELVES, supplies
from rackcheck.parse.bmc.systems import some

TEXTS = {"model": "Model", "manufacturer": "Manufacturer", "firmware": "FirmwareVersion", "type": "PowerSupplyType"}
TEXTS |= {"slot": "Location.PartLocation.ServiceLabel"}
LABELS = {"serial": "SerialNumber", "part_number": "PartNumber", "spare_part": "SparePartNumber"}
INPUTS = ("InputNominalVoltageType", "LineInputVoltageType")


@probe(
    Redfish("Chassis/*/PowerSubsystem/PowerSupplies/*", "Chassis/*/Power", CHASSIS, Walk(f"or {SHELVES}", supplies)),
    gives={
        "psu": collection("power supply slots, including empty ones", alike=(), vacant="psu/*.state"),
        "psu/*.state": text("Enabled, or Absent for an empty slot"),
        "psu/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "psu/*.model": text("model", Class.IDENTITY),
        "psu/*.serial": text("serial number", Class.IDENTITY),
        "psu/*.firmware": version("opaque", "firmware; supplies with different versions may share the load unequally"),
        "psu/*.manufacturer": text("manufacturer", Class.IDENTITY),
        "psu/*.part_number": text("part number", Class.IDENTITY),
        "psu/*.spare_part": text("part number of a replacement", Class.IDENTITY),
        "psu/*.slot": text("label of the slot"),
        "psu/*.type": text("AC, DC or ACorDC"),
        "psu/*.input_type": text("range of the input voltage, as the BMC reports it"),
        "psu/*.hot_pluggable": flag("the supply can be replaced while the machine runs"),
        "psu/*.efficiency": quantity("%", "efficiency that the BMC reports"),
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
        for fact, name in TEXTS.items():
            yield f"{item}.{fact}", fitted(supply, name)
        for fact, name in LABELS.items():
            yield f"{item}.{fact}", identified(supply, name)
        yield f"{item}.input_type", fitted(supply, named_first(supply, *INPUTS))
        yield f"{item}.hot_pluggable", fitted(supply, "HotPluggable", truth)
        yield f"{item}.efficiency", fitted(supply, "EfficiencyPercent", some)
        yield f"{item}.capacity", fitted(supply, "PowerCapacityWatts", amount)
    if trouble is not None:
        yield "psu", trouble
