"""Every resource of any kind whose health the BMC reports as Warning or Critical, including empty slots."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rackcheck import Class, Documents, Facts, Redfish, collection, probe, spell_key, text
from rackcheck.model.by_part import of_part
from rackcheck.model.fact import Unknown
from rackcheck.model.redfish_value import HEALTH, health
from rackcheck.model.resource import ROOT, Body, Resource, inside
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.chassis import CHASSIS, at_own, others, own
from rackcheck.parse.bmc.item import gather, members, not_there, with_conditions

LINKS = (
    "Chassis/*", "Systems/*", "Managers/*", "Systems/*/Processors/*", "Systems/*/Memory/*",
    "Chassis/*/NetworkAdapters/*", "Chassis/*/PowerSubsystem/PowerSupplies/*",
    "Chassis/*/ThermalSubsystem/Fans/*", "Chassis/*/ThermalSubsystem/LeakDetection/LeakDetectors/*", "Chassis/*/Power",
    "Chassis/*/Thermal", "Fabrics/*/Switches/*", "UpdateService/FirmwareInventory/*", "ComponentIntegrity/*",
)  # fmt: skip
MANY = ("Chassis/*/Sensors/*", "Chassis/*/PCIeDevices/*")
"""Paths of collections that have hundreds of resources on some machines."""

OEM = "Chassis/*/Oem/Hpe/Links/Devices/*"
"""Path of devices that only HPE's BMCs list; BMCs of other vendors have no such resource, or a different one."""

OK = HEALTH[0]

INSIDE = ("PowerSupplies", "Temperatures", "Fans", "Voltages", "Redundancy")
"""Properties that contain lists of parts, in Redfish's older Power and Thermal resources."""


@probe(
    Redfish(*LINKS, OEM, CHASSIS, whole=MANY),
    gives={
        "bmc.unhealthy": collection("resources whose health is Warning or Critical, by path"),
        "bmc.unhealthy/*.health": text("Warning or Critical, as the BMC reports it", words=HEALTH),
        "bmc.unhealthy/*.state": text("Enabled, Absent, Starting, ..., as the BMC reports it", Class.MEASUREMENT),
    },
)
def bmc_unhealthy(docs: Documents) -> Facts:
    """List the resources whose health is not OK; a resource that reports no health is not listed."""
    found: dict[str, Resource] = {}
    lost = next((t for t in (members(docs, name)[1] for name in ("Chassis", "Systems", "Managers")) if t), None)
    left, doubt = others(docs)
    lost = lost or doubt
    for link in (*LINKS, *MANY):
        resources, trouble = at_own(docs, link, left)
        parts = [gather(_parts(resource)) for resource in resources]
        found |= {each.uri: each for some, _ in parts for each in some}
        # A service that the BMC does not have costs nothing; a resource that another one links to or lists does.
        trouble = None if _has_no(docs, link.partition("/")[0]) else trouble
        unread = (trouble, *(each.unread for each in resources), *(cut for _, cut in parts))
        lost = lost or next((each for each in unread if each is not None), None)
    standard = frozenset(found)
    devices, trouble = _oem(docs, left)
    lost = lost or trouble
    found |= {each.uri: each for each in devices if each.uri not in standard}
    within = {each.uri: each for resource in found.values() for each in _inner(resource)}
    found |= {uri: each for uri, each in within.items() if uri not in found}
    healths: dict[str, Sourced] = {}
    shown_by = {uri: _shown(resource.only("Status")) for uri, resource in found.items() if not _is_well(resource)}
    for uri, each in shown_by.items():
        shown, resource = each.health, found[uri]
        if not isinstance(shown.reading, Unknown):
            healths[uri] = shown
        elif _has_health(resource) if uri in standard else _is_malformed(resource):
            lost = lost or Unknown(shown.reading.reason, f"{uri}: {shown.reading.detail}")
    states = {uri: each.state for uri, each in shown_by.items()}
    listed = max((_rank(v) for uri, v in healths.items() if states[uri].reading != "Absent"), default=0)
    for uri, each in shown_by.items():
        value, rollup = healths.get(uri), each.rollup
        if _rank(rollup) > listed:
            # A rollup is the worst health of a resource and of the resources below it (Redfish schema Resource). If it
            # is worse than every health that the BMC lists, it is the only sign of a part that the BMC does not list.
            value = rollup
        if value is not None and _rank(value):
            item = f"bmc.unhealthy/{spell_key(uri.removeprefix(f'{ROOT}/'))}"
            yield f"{item}.health", value
            yield f"{item}.state", states[uri]
    if lost is not None:
        yield "bmc.unhealthy", lost


def _is_well(resource: Resource) -> bool:
    """Return whether a resource returns a health of OK and no sign of another one, as most resources do."""
    status = resource.body.get("Status") if resource.trouble is None else None
    return (
        type(status) is dict
        and status.get("Health") == OK
        and status.get("HealthRollup", OK) == OK
        and ("Conditions" not in status)
    )


@dataclass(frozen=True)
class _Status:
    health: Sourced
    state: Sourced
    rollup: Sourced


@of_part
def _shown(resource: Resource) -> _Status:
    shown = with_conditions(resource, resource.read("Status.Health", health))
    return _Status(shown, resource.read("Status.State"), resource.read("Status.HealthRollup", health))


def _has_no(docs: Documents, service: str) -> bool:
    """Return whether the BMC does not have a service that the service root links to (404)."""
    return any(each.unread is not None and not_there(each.unread) for each in gather(docs.at(service))[0])


def _oem(docs: Documents, left: frozenset[str]) -> tuple[list[Resource], Unknown | None]:
    """Return the devices that only HPE's BMCs list, and why the list may be incomplete, if there is one."""
    devices: dict[str, Resource] = {}
    unread: Unknown | None = None
    for place in own(members(docs, "Chassis")[0], left):
        links = place.value("Oem.Hpe.Links") if place.unread is None else None
        if isinstance(links, Mapping) and "Devices" in links:
            found, cut = gather(docs.at(OEM.removeprefix("Chassis/*/"), place))
            devices |= {each.uri: each for each in found}
            unread = unread or cut or next((each.unread for each in found if each.unread is not None), None)
    return list(devices.values()), unread


def _rank(value: Sourced) -> int:
    """Return 0 for a health of OK or an unknown one, 1 for Warning, 2 for Critical."""
    return HEALTH.index(value.reading) if value.reading in HEALTH else 0


def _inner(resource: Resource) -> Iterator[Resource]:
    """Yield the objects inside a body that have a `Status`, such as `ProcessorSummary` or an iLO's summaries."""
    todo = [(resource, name) for name in _objects(resource.body)]
    while todo:
        outer, name = todo.pop()
        value = outer.body[name]
        inner = Resource(inside(outer.uri, name), value, above=outer)
        if isinstance(value.get("Status"), Mapping):
            yield inner
        todo += [(inner, each) for each in _objects(value)]


def _objects(body: Body) -> Iterator[str]:
    """Yield the names of properties that are objects, except Status."""
    return (name for name, value in body.items() if isinstance(value, Mapping) and name != "Status")


def _has_health(resource: Resource) -> bool:
    """Whether unreadable health is an error: Status is malformed, or it has a Health and its State is not Absent."""
    status = resource.body.get("Status", {})
    return _is_malformed(resource) or ("Health" in status and status.get("State") != "Absent")


def _is_malformed(resource: Resource) -> bool:
    """Whether there is a Status, and it is no object; many devices that only an iLO lists have a Health of null."""
    return not isinstance(resource.body.get("Status", {}), Mapping)


def _parts(resource: Resource) -> Iterator[Resource]:
    """Yield a resource and the parts in its lists; raises Unreadable if a list is incomplete."""
    yield resource
    for name in INSIDE:
        if resource.unread is None:
            yield from resource.parts(name)
