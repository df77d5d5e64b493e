"""PCIe devices as the BMC reports them: identity, health and link of each device."""

from rackcheck import (
    Class,
    Documents,
    Facts,
    Redfish,
    Walk,
    collection,
    integer,
    probe,
    spell_key,
    text,
    version,
)
from rackcheck.parse.bmc.chassis import CHASSIS
from rackcheck.parse.bmc.item import fitted, health_of, keyed, state_of
from rackcheck.parse.bmc.part import identified, label, named_first, revision
from rackcheck.parse.bmc.pcie import SLOTS, devices, generation
from rackcheck.parse.bmc.systems import whole

TEXTS = {"manufacturer": "Manufacturer", "model": "Model"}
LABELS = {"serial": "SerialNumber", "part_number": "PartNumber"}
LINK = {
    "generation": ("PCIeInterface.PCIeType", generation),
    "max_generation": ("PCIeInterface.MaxPCIeType", generation),
    "width": ("PCIeInterface.LanesInUse", whole),
    "max_width": ("PCIeInterface.MaxLanes", whole),
}


@probe(
    Redfish("Chassis/*/PCIeDevices/*", CHASSIS, Walk("or Systems/*/PCIeDevices/*", devices), dear=True),
    gives={
        "bmc.pcie": collection("PCIe devices, by the BMC's names; some BMCs also list bridges and root ports"),
        "bmc.pcie/*.state": text("Enabled, Disabled, Absent, ..."),
        "bmc.pcie/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.pcie/*.manufacturer": text("manufacturer", Class.IDENTITY),
        "bmc.pcie/*.model": text("model", Class.IDENTITY),
        "bmc.pcie/*.serial": text("serial number", Class.IDENTITY),
        "bmc.pcie/*.part_number": text("part number", Class.IDENTITY),
        "bmc.pcie/*.firmware": version("opaque", "firmware"),
        "bmc.pcie/*.slot": text("label of the slot; most BMCs report none"),
        "bmc.pcie/*.generation": integer("PCIe generation that the link runs at; an idle device may use a lower one"),
        "bmc.pcie/*.max_generation": integer("highest PCIe generation that the device supports"),
        "bmc.pcie/*.width": integer("lanes in use; unknown if the BMC reports 0"),
        "bmc.pcie/*.max_width": integer("lanes that the device supports; unknown if the BMC reports 0"),
    },
)
def bmc_pcie(docs: Documents) -> Facts:
    """Every PCIe device, its identity, health and link."""
    found, trouble = devices(docs)
    for key, device in keyed(found):
        item = f"bmc.pcie/{spell_key(key)}"
        yield f"{item}.state", state_of(device)
        yield f"{item}.health", health_of(device)
        for fact, name in TEXTS.items():
            yield f"{item}.{fact}", fitted(device, name, label)
        for fact, name in LABELS.items():
            yield f"{item}.{fact}", identified(device, name)
        yield f"{item}.firmware", fitted(device, "FirmwareVersion", revision)
        yield f"{item}.slot", fitted(device, named_first(device, *SLOTS))
        for fact, (name, reader) in LINK.items():
            yield f"{item}.{fact}", fitted(device, name, reader)
    if trouble is not None:
        yield "bmc.pcie", trouble
