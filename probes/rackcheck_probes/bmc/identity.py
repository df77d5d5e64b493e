"""The identity of the BMC and of its machine."""

from rackcheck import (
    Class,
    Documents,
    Facts,
    Reason,
    Redfish,
    Unknown,
    collection,
    flag,
    probe,
    quantity,
    spell_key,
    text,
    version,
)
from rackcheck.model.fact import Reading, clean
from rackcheck.model.redfish_value import truth
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.host import CHOICE, hosts
from rackcheck.parse.bmc.item import gather, health_of, keyed, members, read_ones, reported
from rackcheck_probes.bmc.clock import offset

SYSTEM = {"manufacturer": "Manufacturer", "model": "Model", "serial": "SerialNumber", "sku": "SKU"}
SYSTEM |= {"power_state": "PowerState", "health": "Status.Health", "bios_version": "BiosVersion"}
MANAGER = {"type": "ManagerType", "model": "Model", "firmware": "FirmwareVersion"}
MANAGER |= {"health": "Status.Health", "time": "DateTime"}


@probe(
    Redfish("", "Systems/*", "Managers/*", "Systems/*/Links/ManagedBy/*", CHOICE),
    gives={
        "bmc.vendor": text("vendor of the BMC's firmware, which may not be the vendor of the machine", Class.IDENTITY),
        "bmc.product": text("product name of the BMC; some BMCs report the name of a board", Class.IDENTITY),
        "bmc.redfish": version("dotted", "Redfish version of the BMC"),
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
        "firmware.bios": version("opaque", "BIOS of the host"),
        "firmware.bmc": version("opaque", "firmware of the BMC that manages the host"),
    },
)
def bmc_identity(docs: Documents) -> Facts:
    """Vendor, model, serial number, and the versions of BIOS and BMC."""
    for root in docs.at(""):
        for word, name in (("vendor", "Vendor"), ("product", "Product"), ("redfish", "RedfishVersion")):
            yield f"bmc.{word}", root.read(name)
    systems, no_system = members(docs, "Systems")
    managers, no_manager = members(docs, "Managers")
    for word, found, names in (("system", systems, SYSTEM), ("manager", managers, MANAGER)):
        for key, resource in keyed(found):
            for fact, name in names.items():
                value = health_of(resource) if fact == "health" else resource.read(name)
                yield f"bmc.{word}/{spell_key(key)}.{fact}", value
    for key, system in keyed(systems):
        yield f"bmc.system/{spell_key(key)}.test_mode", reported(system, "Oem.Nvidia.ISTModeEnabled", truth)
    for key, manager in keyed(managers):
        yield f"bmc.manager/{spell_key(key)}.offset", offset(manager)
    for word, trouble in (("system", no_system), ("manager", no_manager)):
        if trouble is not None:
            yield f"bmc.{word}", trouble
    main, no_host = hosts(docs)
    yield "firmware.bios", _one("BiosVersion", main, no_host)
    managing, unread = _managing(docs, main)
    yield "firmware.bmc", _one("FirmwareVersion", managing or managers, no_host or unread or no_manager)


def _managing(docs: Documents, main: list[Resource]) -> tuple[list[Resource], Unknown | None]:
    """Return the managers of the host, and, if the list of managers may be incomplete, the reason."""
    found = [gather(docs.at("Links/ManagedBy/*", system)) for system in main]
    trouble = next((unread for _, unread in found if unread is not None), None)
    return read_ones([manager for managers, _ in found for manager in managers], trouble)


def _one(name: str, resources: list[Resource], trouble: Unknown | None) -> Reading:
    """Return the value that all resources report; unknown if any resource does not report it, or if values differ."""
    if trouble is not None:
        return trouble
    rows = [resource.read(name).reading for resource in resources]
    mute = next((reading for reading in rows if isinstance(reading, Unknown)), None)
    if mute is not None:
        return mute
    if not rows:
        return Unknown(Reason.NOT_COLLECTED, f"no resource of this BMC has {name}")
    if len(set(rows)) > 1:
        shown = ", ".join(f"{resource.id}: {reading}" for resource, reading in zip(resources, rows, strict=True))
        return Unknown(Reason.UNPARSABLE, f"{name} differs: {clean(shown)}")
    return rows[0]
