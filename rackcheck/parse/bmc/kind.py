"""What kind of machine a BMC manages, by its parts: processors, switches, power equipment, a card."""

from collections.abc import Mapping, Sequence

from rackcheck.model.documents import Documents, Missing
from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.model.redfish_value import amount
from rackcheck.model.resource import Resource, inside, same_place
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.chassis import BLADES
from rackcheck.parse.bmc.item import gather, gone, members, not_there

KINDS = ("server", "blade", "switch_tray", "power_shelf", "pdu", "cooling_unit", "enclosure", "dpu")

COOLERS = frozenset({"HeatExchanger", "ImmersionTank"})
"""Types of chassis of cooling units; others have a link to ThermalEquipment in the service root."""

POWER = {"PowerShelves": "power_shelf", "RackPDUs": "pdu", "FloorPDUs": "pdu"}
"""Collections of the PowerEquipment resource (Redfish schema PowerEquipment), and the machine that such a part is."""

OTHER_POWER = ("TransferSwitches", "Switchgear", "ElectricalBuses")
"""Collections of the PowerEquipment resource whose parts are no machines of a rack."""

OTHER = "other power equipment"

SUPPLIES = ("PowerSubsystem", "Power")
"""Links of a chassis that has power supplies, which a power distribution unit has not."""

PARTS = frozenset({"Card", "Component", "Module", "Zone"})
"""Types of chassis that are parts; if all chassis of a machine are parts, and one is a card, the machine is a card."""


def kind(docs: Documents) -> Sourced | Reading:
    """Return the machine's kind, and the property that shows it; unknown if an unread resource may change the kind."""
    listed, trouble = members(docs, "Chassis")
    chassis = [each for each in listed if each.unread is None or not not_there(each.unread)]
    types = [each.read("ChassisType") for each in chassis]
    found, unread = members(docs, "Systems") if _has_systems(docs) else ([], None)
    lost = gone(found)
    systems = [each for each in found if each.unread is None or not not_there(each.unread)]
    trouble = trouble or unread or next((each.unread for each in systems if each.unread is not None), None)
    if trouble is not None:
        return trouble
    # A server may list a DPU that it contains as a system of its own.
    hosts = [each for each in systems if each.body.get("SystemType") != "DPU"]
    if systems and not hosts:
        return lost or Sourced("dpu", inside(systems[0].uri, "SystemType"))
    card = next((each for each in types if each.reading == "Card"), None)
    # Parts in a chassis that was not read show no card.
    if card is not None and len(chassis) == len(listed) and all(each.reading in PARTS for each in types):
        return Sourced("dpu", card.source)
    enclosure = next((each for each in types if each.reading == "Enclosure"), None)
    blades = [place for place, each in zip(chassis, types, strict=True) if each.reading in BLADES]
    alone = not hosts and not _has_equipment(docs) and not any(map(_holds_systems, chassis))
    places = {each.uri for each in blades}
    taken = [places & _own_chassis(system) for system in hosts]
    apart = sum(map(bool, taken))
    if enclosure is not None and ((len(blades) > 1 and (apart > 1 or not hosts)) or alone):
        return Sourced("enclosure", enclosure.source)
    read = _by_parts(docs, hosts, list(zip(chassis, types, strict=True)), lost)
    held = frozenset().union(*taken)
    blade = next((each for each in blades if each.uri in held), None)
    if blade is not None and isinstance(read, Sourced) and read.reading == "server":
        return Sourced("blade", inside(blade.uri, "ChassisType"))
    return read


def _own_chassis(system: Resource) -> frozenset[str]:
    """Return the URIs of the chassis that a system links to as its own."""
    links = system.body.get("Links")
    held = links.get("Chassis") if isinstance(links, Mapping) else None
    uris = [each.get("@odata.id") for each in held if isinstance(each, Mapping)] if isinstance(held, list) else []
    return frozenset(same_place(uri) for uri in uris if isinstance(uri, str))


def _holds_systems(chassis: Resource) -> bool:
    """Return whether a chassis links to a system, which the BMC then has even if it lists none."""
    links = chassis.body.get("Links")
    return isinstance(links, Mapping) and _any(links.get("ComputerSystems"))


def _has_equipment(docs: Documents) -> bool:
    return any(_is_link(root.body.get(name)) for root in docs.at("") for name in ("PowerEquipment", "ThermalEquipment"))


def _equipment(docs: Documents, chassis: Sequence[Resource]) -> tuple[dict[str, str], Unknown | None]:
    """Return the kinds of the equipment that the service root links to with the source of each, and what was not read.

    The kind of power equipment is that of its collection that has members. If none has any, equipment with power
    supplies in a chassis is a power shelf.
    """
    root = next(iter(docs.at("")))
    found: dict[str, str] = {}
    if _is_link(root.body.get("ThermalEquipment")):
        found["cooling_unit"] = inside(root.uri, "ThermalEquipment")
    if not _is_link(root.body.get("PowerEquipment")):
        return found, None
    power: dict[str, str] = {}
    lost: Unknown | None = None
    for name, kind in POWER.items():
        try:
            collections, trouble = gather(docs.at(f"PowerEquipment/{name}"))
        except Missing:  # captures of earlier versions do not contain it
            continue
        unread = (trouble, *(each.unread for each in collections))
        lost = lost or next((each for each in unread if each is not None and not not_there(each)), None)
        place = next((each for each in collections if _any(each.body.get("Members"))), None)
        if place is not None:
            power.setdefault(kind, inside(place.uri, "Members"))
    supplied = any(_is_link(each.body.get(name)) for each in chassis for name in SUPPLIES)
    if not power and supplied and not _links_any(docs, OTHER_POWER, "RackPDUs", "FloorPDUs"):
        power["power_shelf"] = inside(root.uri, "PowerEquipment")
    return found | (power or {OTHER: inside(root.uri, "PowerEquipment")}), lost


def _links_any(docs: Documents, others: Sequence[str], *names: str) -> bool:
    """Return whether the PowerEquipment resource links to one of these collections; False if it was not read."""
    try:
        found, _ = gather(docs.at("PowerEquipment"))
    except Missing:
        return False
    return any(_is_link(each.body.get(name)) for each in found for name in (*others, *names))


def _has_systems(docs: Documents) -> bool:
    return any("Systems" in root.body for root in docs.at(""))


def _by_parts(
    docs: Documents, systems: list[Resource], chassis: list[tuple[Resource, Sourced]], lost: Unknown | None
) -> Sourced | Reading:
    """Return the kind of a machine that is no card: `server`, `switch_tray`, `power_shelf`, `pdu` or `cooling_unit`.

    A machine with processors is a server; without processors, one with switches is a switch tray; without either, one
    with power equipment or thermal equipment and no system is a power shelf, a power distribution unit or a cooling
    unit. It is unknown if it has equipment of several kinds.
    """
    counts = [each.read("ProcessorSummary.Count", amount) for each in systems]
    for count in counts:
        if not isinstance(count.reading, Unknown) and count.reading != 0:
            return Sourced("server", count.source)
    mute = lost or next((count.reading for count in counts if isinstance(count.reading, Unknown)), None)
    if mute is not None:
        return mute
    fabrics, trouble = gather(docs.at("Fabrics/*/Switches"))
    switches = next((each for each in fabrics if _any(each.body.get("Members"))), None)
    if trouble is not None:
        return trouble
    if switches is not None:
        return Sourced("switch_tray", inside(switches.uri, "Members"))
    equipment, unread = ({}, None) if systems else _equipment(docs, [place for place, _ in chassis])
    if unread is not None:
        return unread
    cooler = next((each for _, each in chassis if each.reading in COOLERS), None)
    if cooler is not None and not systems:
        equipment.setdefault("cooling_unit", cooler.source)
    if len(equipment) == 1 and OTHER not in equipment:
        return next(Sourced(kind, source) for kind, source in equipment.items())
    shown = ", ".join(sorted(equipment))
    what = f"several kinds of ({shown})" if len(equipment) > 1 else "neither processors, switches, power nor thermal"
    if OTHER in equipment and len(equipment) == 1:
        what = "only power equipment of no known kind, and no other"
    return Unknown(Reason.NOT_COLLECTED, f"the BMC reports {what} equipment")


def _any(members: object) -> bool:
    return isinstance(members, list) and any(map(_is_link, members))


def _is_link(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("@odata.id"), str)
