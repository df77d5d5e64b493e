"""Power of a BMC's chassis: redundancy groups, power drawn and its limits, in the older and the newer form."""

import re
from collections.abc import Callable, Mapping, Sequence

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable, Value, clean
from rackcheck.model.redfish_value import amount
from rackcheck.model.resource import MEMBERS, Resource, same_place
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.control import DEVICES, PURPOSES
from rackcheck.parse.bmc.item import LinkForm, gather, in_chassis, members, not_there, read_ones

SUPPLIES: tuple[LinkForm, LinkForm] = (("PowerSubsystem/PowerSupplies", "*"), ("Power", "PowerSupplies"))
SHELVES = "PowerEquipment/PowerShelves/*/PowerSupplies/*"
"""Where a power shelf lists its supplies, which no chassis lists."""

GROUPS: tuple[LinkForm, LinkForm] = (("PowerSubsystem", "PowerSupplyRedundancy"), ("Power", "Redundancy"))

METRICS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "input_voltage": ("InputVoltage", ("LineInputVoltage",)),
    "input_power": ("InputPowerWatts", ("PowerInputWatts",)),
    "output_power": ("OutputPowerWatts", ("PowerOutputWatts", "LastPowerOutputWatts")),
}
"""Where a measure is in the metrics of a power supply, and where in the older form."""


def drawn(value: object) -> float:
    """Return watts that flow; zero is unknown: a machine that is off returns it, and one that does not measure."""
    watts = amount(value)
    if watts == 0:
        raise Unreadable("says 0, as one does that does not know", Reason.NOT_COLLECTED)
    return watts


def supplies(docs: Documents) -> tuple[list[Resource], Unknown | None]:
    """Return the power supplies of every chassis, else of the power shelves, and why the list may be incomplete.

    A member that its BMC does not find, though the collection holds its body, is read from that body.
    """
    found, trouble = in_chassis(docs, *SUPPLIES)
    if found or not any("PowerEquipment" in root.body for root in docs.at("")):
        return [_embedded(each) for each in found], trouble
    chassis, unread = members(docs, "Chassis")
    silent = unread is None and not any(form[0].partition("/")[0] in each.body for each in chassis for form in SUPPLIES)
    shelved, cut = read_ones(*gather(docs.at(SHELVES)))
    if silent and (shelved or cut is not None):
        trouble = cut  # the chassis may omit supplies that are in the shelf
    return [_embedded(each) for each in shelved], trouble or cut


def walked(docs: Documents) -> None:
    """Fetch the metrics of every power supply."""
    for supply in supplies(docs)[0]:
        gather(docs.at("Metrics", supply))


def _embedded(supply: Resource) -> Resource:
    if supply.above is None or supply.unread is None or not not_there(supply.unread):
        return supply
    listed = supply.above.body.get("Members")
    for body in listed[:MEMBERS] if isinstance(listed, list) else ():
        uri = body.get("@odata.id") if isinstance(body, Mapping) else None
        if isinstance(uri, str) and same_place(uri) == supply.uri and any(not name.startswith("@") for name in body):
            return Resource(supply.uri, body, above=supply.above)
    return supply


def groups(docs: Documents) -> tuple[list[Resource], Unknown | None]:
    """Return the redundancy groups of every chassis, and why the list may be incomplete.

    A chassis without power supplies may omit redundancy; with supplies, a missing one is unknown.
    """
    supplies, trouble = in_chassis(docs, *SUPPLIES)
    fed = {owner.uri for supply in supplies if (owner := supply.owner) is not None}
    chassis, unread = members(docs, "Chassis")
    trouble = trouble or unread
    found: dict[str, Resource] = {}
    for place in chassis:
        parts, failed = _redundancy_groups(docs, place)
        found |= {part.uri: part for part in parts}
        silent = failed is not None and failed.reason is Reason.NOT_COLLECTED
        trouble = trouble or (None if silent and place.uri not in fed else failed)
    return list(found.values()), trouble


def _redundancy_groups(docs: Documents, chassis: Resource) -> tuple[list[Resource], Unknown | None]:
    """Return the groups of one chassis in the first form that lists any, or why none does."""
    failed: Unknown | None = None
    known = False
    for link, name in GROUPS:
        holders, unread = gather(docs.at(link, chassis))
        parts: list[Resource] = []
        for holder in holders:
            more, cut = gather(holder.parts(name))
            parts, unread = parts + more, unread or cut
            known = known or (cut is None and name in holder.body)
        if parts or (unread is not None and not not_there(unread)):
            return parts, unread
        failed = failed or unread
    names = " or ".join(name for _, name in GROUPS)
    return [], None if known else failed or Unknown(Reason.NOT_COLLECTED, f"{chassis.uri} tells no {names}")


def count(value: object) -> int:
    """Return a number of things."""
    number = amount(value)
    if number != int(number):
        raise Unreadable(f"no number of things: {number:g}")
    return int(number)


def flow(docs: Documents, supply: Resource, places: tuple[str, tuple[str, ...]]) -> Sourced | Reading:
    """Read one measure of a supply: from its Metrics if it has them, else from itself, as in the older form."""
    newer, older = places
    reader = amount if "Voltage" in newer else drawn
    if supply.read("Status.State").reading == "Absent":
        return Absent("the slot is empty")
    metrics, unread = gather(docs.at("Metrics", supply))
    if metrics:
        return metrics[0].read(f"{newer}.Reading", reader)
    return unread if unread is not None else first(supply, older, reader)


def metrics(docs: Documents) -> tuple[list[tuple[Resource, Resource]], Unknown | None]:
    """Return every chassis that has EnvironmentMetrics with that resource, and why the list may be incomplete."""
    chassis, trouble = members(docs, "Chassis")
    found: list[tuple[Resource, Resource]] = []
    for place in chassis:
        environment, unread = gather(docs.at("EnvironmentMetrics", place))
        found += [(place, each) for each in environment]
        trouble = trouble or unread
    if not found and trouble is None:
        trouble = Unknown(Reason.NOT_COLLECTED, "no chassis of this BMC has EnvironmentMetrics")
    return found, trouble


def cap(environment: Resource) -> Sourced:
    """Return the power cap of a chassis, if it names its control.

    One recorded machine has TDP for its first processor and EDPp for its second in this property, and names neither: a
    value without a purpose, and the set point of one device, are left to the controls.
    """
    sourced = environment.read("PowerLimitWatts.SetPoint", drawn)
    if isinstance(sourced.reading, Unknown):
        return sourced
    control = environment.read("PowerLimitWatts.DataSourceUri")
    if isinstance(control.reading, Unknown):
        return control
    last = str(control.reading).rstrip("/").rpartition("/")[2]
    found = [kind for kind in sorted(DEVICES) if re.search(PURPOSES[kind], last)]
    if found:
        return Sourced(
            Unknown(Reason.NOT_COLLECTED, f"tells {' and '.join(found)} of a device, no cap"), sourced.source
        )
    return sourced


def listed(group: Resource) -> Sourced:
    """Count the supplies of one group, by the links it lists; several links to one count once."""
    name = "RedundancyGroup" if "RedundancyGroup" in group.body else "RedundancySet"
    return group.read(name, _links)


def _links(value: object) -> int:
    if not isinstance(value, list):
        raise Unreadable(f"is no list of links: {clean(repr(value), 60)}", Reason.NOT_COLLECTED)
    uris = [member.get("@odata.id") if isinstance(member, dict) else None for member in value]
    if not all(isinstance(uri, str) and uri for uri in uris):
        raise Unreadable("lists what is no link")
    return len(set(uris))


def controls(docs: Documents) -> tuple[list[Resource], Unknown | None]:
    """Return the first PowerControl of every chassis, which covers the whole of it, and why the list may be incomplete.

    The others, if any, are those of subsystems (processors, memory): they are parts of the first.
    """
    chassis, trouble = members(docs, "Chassis")
    found: dict[str, Resource] = {}
    for place in chassis:
        holders, unread = gather(docs.at("Power", place))
        trouble = trouble or (unread if unread is not None and not not_there(unread) else None)
        for holder in holders:
            parts, cut = gather(holder.parts("PowerControl"))
            found |= {part.uri: part for part in parts[:1]}
            trouble = trouble or cut
    return list(found.values()), trouble


def whole(
    resources: Sequence[Resource],
    name: str,
    reader: Callable[[object], Value],
    trouble: Unknown | None,
) -> Sourced | Reading:
    """Return the value of the one chassis that reports the whole machine; unknown if several do."""
    if trouble is not None:
        return trouble
    if not resources:
        return Unknown(Reason.NOT_COLLECTED, f"no chassis of this BMC has a PowerControl to tell {name}")
    if len(resources) > 1:
        places = ", ".join(resource.uri for resource in resources)
        return Unknown(Reason.NOT_COLLECTED, f"several chassis tell {name}: {clean(places)}")
    return resources[0].read(name, reader)


def first(resource: Resource, names: Sequence[str], reader: Callable[[object], Value]) -> Sourced:
    """Read the first of these properties that the body has; the first of all where it has none."""
    there = next((name for name in names if name.partition(".")[0] in resource.body), names[0])
    return resource.read(there, reader)
