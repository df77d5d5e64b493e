"""The identity of the BMC and of its machine."""

from rackcheck import (
    Class,
    Documents,
    Facts,
    Redfish,
    collection,
    flag,
    probe,
    quantity,
    spell_key,
    text,
    version,
)
from rackcheck.model.redfish_value import text_of, truth
from rackcheck.parse.bmc.item import health_of, keyed, members, reported
from rackcheck.parse.bmc.part import identified
from rackcheck.parse.bmc.running import version_of
from rackcheck_probes.bmc.clock import offset

SYSTEM = {"manufacturer": "Manufacturer", "model": "Model"}
LABELS = {"serial": "SerialNumber", "sku": "SKU"}
SYSTEM |= {"power_state": "PowerState", "health": "Status.Health", "bios_version": "BiosVersion"}
MANAGER = {"type": "ManagerType", "model": "Model", "firmware": "FirmwareVersion"}
MANAGER |= {"health": "Status.Health", "time": "DateTime"}
VERSIONS = ("bios_version", "firmware")


@probe(
    Redfish("", "Systems/*", "Managers/*"),
    gives={
        "bmc.vendor": text("vendor of the BMC's firmware, which may not be the vendor of the machine", Class.IDENTITY),
        "bmc.product": text("product name of the BMC; some BMCs report the name of a board", Class.IDENTITY),
        "bmc.redfish": version("dotted", "Redfish version of the BMC"),
        "bmc.simulator": text("simulator that this BMC is part of; absent on a real BMC", Class.IDENTITY),
        "bmc.system": collection("systems that this BMC manages; a GPU baseboard may be a separate system"),
        "bmc.system/*.manufacturer": text("manufacturer", Class.IDENTITY),
        "bmc.system/*.model": text("model", Class.IDENTITY),
        "bmc.system/*.serial": text("serial number", Class.IDENTITY),
        "bmc.system/*.sku": text("order number", Class.IDENTITY),
        "bmc.system/*.power_state": text("On, Off or in transition"),
        "bmc.system/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.system/*.bios_version": version("opaque", "BIOS"),
        "bmc.system/*.test_mode": flag(
            "whether the GPUs are in the in-silicon test mode (IST); absent if not reported"
        ),
        "bmc.manager": collection("management controllers"),
        "bmc.manager/*.type": text("BMC, Service, ..."),
        "bmc.manager/*.model": text("model", Class.IDENTITY),
        "bmc.manager/*.firmware": version("opaque", "firmware"),
        "bmc.manager/*.health": text("OK, Warning or Critical: the controller's own health"),
        "bmc.manager/*.time": text("the controller's clock; some clocks were never set", Class.MEASUREMENT),
        "bmc.manager/*.offset": quantity(
            "s",
            "the controller's clock minus rackcheck's clock; negative if the controller's clock is behind",
            Class.MEASUREMENT,
        ),
    },
)
def bmc_identity(docs: Documents) -> Facts:
    """Vendor, model and serial number of the BMC, its systems and its managers."""
    for root in docs.at(""):
        for word, name in (("vendor", "Vendor"), ("product", "Product"), ("redfish", "RedfishVersion")):
            yield f"bmc.{word}", root.read(name)
        yield "bmc.simulator", reported(root, "Oem.Rackcheck.Simulator", text_of)
    systems, no_system = members(docs, "Systems")
    managers, no_manager = members(docs, "Managers")
    for word, found, names in (("system", systems, SYSTEM), ("manager", managers, MANAGER)):
        for key, resource in keyed(found):
            for fact, name in names.items():
                reader = version_of if fact in VERSIONS else text_of
                value = health_of(resource) if fact == "health" else resource.read(name, reader)
                yield f"bmc.{word}/{spell_key(key)}.{fact}", value
    for key, system in keyed(systems):
        for fact, name in LABELS.items():
            yield f"bmc.system/{spell_key(key)}.{fact}", identified(system, name)
        yield f"bmc.system/{spell_key(key)}.test_mode", reported(system, "Oem.Nvidia.ISTModeEnabled", truth)
    for key, manager in keyed(managers):
        yield f"bmc.manager/{spell_key(key)}.offset", offset(manager)
    for word, trouble in (("system", no_system), ("manager", no_manager)):
        if trouble is not None:
            yield f"bmc.{word}", trouble
