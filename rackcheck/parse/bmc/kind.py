"""What kind of machine a BMC manages, by its parts: processors, switches, power equipment, a card."""

from collections.abc import Mapping

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.model.redfish_value import amount
from rackcheck.model.resource import Resource, inside, same_place
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.chassis import BLADES
from rackcheck.parse.bmc.item import gather, gone, members, not_there

KINDS = ("server", "blade", "switch_tray", "power_shelf", "cooling_unit", "enclosure", "dpu")

COOLERS = frozenset({"HeatExchanger", "ImmersionTank"})
"""Types of chassis of cooling units; others have a link to ThermalEquipment in the service root."""

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
    alone = not hosts and not _equipment(docs) and not any(map(_holds_systems, chassis))
    apart = sum(any(_in(system, each) for each in blades) for system in hosts)
    if enclosure is not None and ((len(blades) > 1 and (apart > 1 or not hosts)) or alone):
        return Sourced("enclosure", enclosure.source)
    read = _by_parts(docs, hosts, types, lost)
    blade = next((each for each in blades if any(_in(system, each) for system in hosts)), None)
    if blade is not None and isinstance(read, Sourced) and read.reading == "server":
        return Sourced("blade", inside(blade.uri, "ChassisType"))
    return read


def _in(system: Resource, chassis: Resource) -> bool:
    """Return whether a system links to a chassis as its own."""
    links = system.body.get("Links")
    held = links.get("Chassis") if isinstance(links, Mapping) else None
    uris = [each.get("@odata.id") for each in held if isinstance(each, Mapping)] if isinstance(held, list) else []
    return any(isinstance(uri, str) and same_place(uri) == chassis.uri for uri in uris)


def _holds_systems(chassis: Resource) -> bool:
    """Return whether a chassis links to a system, which the BMC then has even if it lists none."""
    links = chassis.body.get("Links")
    return isinstance(links, Mapping) and _any(links.get("ComputerSystems"))


def _equipment(docs: Documents) -> dict[str, str]:
    """Return the kinds of the equipment that the service root links to, with the source of each."""
    root = next(iter(docs.at("")))
    named = {"power_shelf": "PowerEquipment", "cooling_unit": "ThermalEquipment"}
    return {kind: inside(root.uri, name) for kind, name in named.items() if _is_link(root.body.get(name))}


def _has_systems(docs: Documents) -> bool:
    return any("Systems" in root.body for root in docs.at(""))


def _by_parts(
    docs: Documents, systems: list[Resource], types: list[Sourced], lost: Unknown | None
) -> Sourced | Reading:
    """Return the kind of a machine that is no card: `server`, `switch_tray`, `power_shelf` or `cooling_unit`.

    A machine with processors is a server; without processors, one with switches is a switch tray; without either, one
    with power equipment or thermal equipment and no system is a power shelf or a cooling unit; both: it is unknown.
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
    equipment = {} if systems else _equipment(docs)
    cooler = next((each for each in types if each.reading in COOLERS), None)
    if cooler is not None and not systems:
        equipment.setdefault("cooling_unit", cooler.source)
    if len(equipment) == 1:
        return next(Sourced(kind, source) for kind, source in equipment.items())
    what = "both power and thermal" if equipment else "neither processors, switches, power nor thermal"
    return Unknown(Reason.NOT_COLLECTED, f"the BMC reports {what} equipment")


def _any(members: object) -> bool:
    return isinstance(members, list) and any(map(_is_link, members))


def _is_link(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("@odata.id"), str)
