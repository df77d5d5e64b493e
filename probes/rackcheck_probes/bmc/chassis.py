"""Chassis, boards and modules as the BMC reports them."""

from rackcheck import Class, Documents, Facts, Redfish, Resource, by_part, collection, integer, probe, spell_key, text
from rackcheck.parse.bmc.chassis import CHASSIS, others, own
from rackcheck.parse.bmc.host import CHOICE
from rackcheck.parse.bmc.item import fitted, health_of, keyed, members, state_of
from rackcheck.parse.bmc.part import identified, unnumbered
from rackcheck.parse.bmc.place import PLACES, host_chassis, kind, place

LABELS = {"part": "PartNumber", "sku": "SKU", "asset_tag": "AssetTag"}
TEXTS = {"manufacturer": "Manufacturer", "model": "Model", "power_state": "PowerState"}
TEXTS |= {"slot": "Location.PartLocation.ServiceLabel"}


@probe(
    Redfish("Chassis/*", "Systems/*", "Systems/*/Links/Chassis/*", CHASSIS, CHOICE),
    gives={
        "bmc.chassis": collection("chassis, boards and modules; some BMCs list every part that has a serial number"),
        "bmc.chassis/*.type": text("RackMount, Module, Component, Zone, ..."),
        "bmc.chassis/*.state": text("Enabled, or Absent for an empty slot"),
        "bmc.chassis/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.chassis/*.power_state": text("On, Off or in transition"),
        "bmc.chassis/*.manufacturer": text("manufacturer", Class.IDENTITY),
        "bmc.chassis/*.model": text("model", Class.IDENTITY),
        "bmc.chassis/*.serial": text("serial number", Class.IDENTITY),
        "bmc.chassis/*.part": text("part number", Class.IDENTITY),
        "bmc.chassis/*.sku": text("order number", Class.IDENTITY),
        "bmc.chassis/*.asset_tag": text("asset tag that the owner assigned", Class.IDENTITY),
        "bmc.chassis/*.slot": text("label on the board next to the part: SXM1, J58"),
        "bmc.location.rack": text("rack, as configured in the BMC", Class.IDENTITY),
        "bmc.location.row": text("row of racks, as configured in the BMC", Class.IDENTITY),
        "bmc.location.offset": integer(
            "lowest rack unit that the machine occupies; some BMCs report 1 if no rack unit is set", Class.IDENTITY
        ),
        "bmc.location.room": text("room, as configured in the BMC", Class.IDENTITY),
        "bmc.location.building": text("building, as configured in the BMC", Class.IDENTITY),
    },
)
def bmc_chassis(docs: Documents) -> Facts:
    """Every chassis, board and module, and the location of the host's chassis."""
    found, trouble = members(docs, "Chassis")
    left, doubt = others(docs)
    for key, chassis in keyed(own(found, left)):
        item = f"bmc.chassis/{spell_key(key)}"
        yield _chassis(item, unnumbered(chassis))
        yield f"{item}.serial", identified(chassis, "SerialNumber")
    trouble = trouble or doubt
    if trouble is not None:
        yield "bmc.chassis", trouble
    hosts, unread = host_chassis(docs)
    for fact in PLACES:
        yield f"bmc.location.{fact}", place(hosts, unread, fact)


@by_part
def _chassis(item: str, chassis: Resource) -> Facts:
    yield f"{item}.type", chassis.read("ChassisType", kind)
    yield f"{item}.state", state_of(chassis)
    yield f"{item}.health", health_of(chassis)
    for fact, name in TEXTS.items():
        yield f"{item}.{fact}", fitted(chassis, name)
    for fact, name in LABELS.items():
        yield f"{item}.{fact}", identified(chassis, name)
