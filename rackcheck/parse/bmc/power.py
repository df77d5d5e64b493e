"""Power of a BMC's chassis: redundancy groups, power drawn and its limits, in the older and the newer schema."""

import re
from collections.abc import Callable, Mapping, Sequence

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable, Value, clean
from rackcheck.model.redfish_value import amount
from rackcheck.model.resource import MEMBERS, Body, Resource, same_place
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.chassis import LinkForm, chassis, in_chassis, items_of
from rackcheck.parse.bmc.control import DEVICES, PURPOSES
from rackcheck.parse.bmc.item import gather, named_ones, not_there, read_ones
from rackcheck.parse.bmc.older import with_older

SUPPLIES: tuple[LinkForm, LinkForm] = (("PowerSubsystem/PowerSupplies", "*"), ("Power", "PowerSupplies"))
SHELVES = "PowerEquipment/PowerShelves/*/PowerSupplies/*"
"""Path of a power shelf's supplies, which no chassis lists."""

GROUPS: tuple[LinkForm, LinkForm] = (("PowerSubsystem", "PowerSupplyRedundancy"), ("Power", "Redundancy"))

METRICS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "input_voltage": ("InputVoltage", ("LineInputVoltage",)),
    "input_power": ("InputPowerWatts", ("PowerInputWatts",)),
    "output_power": ("OutputPowerWatts", ("PowerOutputWatts", "LastPowerOutputWatts")),
}
"""For each measured value of a power supply: the property in its Metrics, and the properties in the older schema."""


def drawn(value: object) -> float:
    """Return the power drawn in W; raises Unreadable for 0, which BMCs return if the machine is off or not measured."""
    watts = amount(value)
    if watts == 0:
        raise Unreadable("is 0, which BMCs return for an unknown value", Reason.NOT_COLLECTED)
    return watts


def supplies(docs: Documents) -> tuple[list[Resource], Unknown | None]:
    """Return the power supplies of every chassis, else of the power shelves, and why the list may be incomplete.

    If the BMC returns 404 for a supply, but the collection already contains the supply's properties, these are used.
    """
    listed, trouble = items_of(docs, chassis(docs), *SUPPLIES, ones=read_ones)
    found, trouble = named_ones(_embedded(listed), trouble)
    if listed or not any("PowerEquipment" in root.body for root in docs.at("")):
        found, cut = with_older(docs, found, SUPPLIES[1])
        return found, trouble or cut
    places, unread = chassis(docs)
    silent = unread is None and not any(form[0].partition("/")[0] in each.body for each in places for form in SUPPLIES)
    shelved, cut = read_ones(*gather(docs.at(SHELVES)))
    if silent and (shelved or cut is not None):
        trouble = cut  # the chassis may omit supplies that are in the shelf
    return named_ones(_embedded(shelved), trouble or cut)


def walked(docs: Documents) -> None:
    """Fetch the metrics of every power supply."""
    for supply in supplies(docs)[0]:
        gather(docs.at("Metrics", supply))


def _embedded(supplies: Sequence[Resource]) -> list[Resource]:
    """Return the supplies; one that the BMC does not have (404), with the properties that its collection contains."""
    gone = [each for each in supplies if each.unread is not None and not_there(each.unread)]
    holders = {each.above.uri: each.above for each in gone if each.above is not None}
    bodies = {uri: _contained(holder) for uri, holder in holders.items()}
    return [
        Resource(each.uri, body, above=each.above)
        if each.unread is not None and each.above is not None and (body := bodies.get(each.above.uri, {}).get(each.uri))
        else each
        for each in supplies
    ]


def _contained(collection: Resource) -> dict[str, Body]:
    """Return the members of a collection that it contains with properties, by URI."""
    listed = collection.body.get("Members")
    found: dict[str, Body] = {}
    for body in listed[:MEMBERS] if isinstance(listed, list) else ():
        uri = body.get("@odata.id") if isinstance(body, Mapping) else None
        if isinstance(uri, str) and any(not name.startswith("@") for name in body):
            found.setdefault(same_place(uri), body)
    return found


def groups(docs: Documents) -> tuple[list[Resource], Unknown | None]:
    """Return the redundancy groups of every chassis, and why the list may be incomplete.

    A chassis without power supplies may omit redundancy; in a chassis with supplies, missing redundancy is unknown.
    """
    supplies, trouble = in_chassis(docs, *SUPPLIES)
    fed = {owner.uri for supply in supplies if (owner := supply.owner) is not None}
    places, unread = chassis(docs)
    trouble = trouble or unread
    found: dict[str, Resource] = {}
    for place in places:
        parts, failed = _redundancy_groups(docs, place)
        found |= {part.uri: part for part in parts}
        silent = failed is not None and failed.reason is Reason.NOT_COLLECTED
        trouble = trouble or (None if silent and place.uri not in fed else failed)
    return list(found.values()), trouble


def _redundancy_groups(docs: Documents, chassis: Resource) -> tuple[list[Resource], Unknown | None]:
    """Return the redundancy groups of one chassis from the first schema that lists any, or why no schema lists any."""
    failed: Unknown | None = None
    known = False
    for link, name in GROUPS:
        holders, unread = gather(docs.at(link, chassis))
        parts: list[Resource] = []
        for holder in holders:
            more, cut = gather(holder.parts(name))
            parts += more
            unread = unread or cut
            known = known or (cut is None and name in holder.body)
        if parts or (unread is not None and not not_there(unread)):
            return parts, unread
        failed = failed or unread
    names = " or ".join(name for _, name in GROUPS)
    return [], None if known else failed or Unknown(Reason.NOT_COLLECTED, f"{chassis.uri} reports no {names}")


def count(value: object) -> int:
    """Return a whole number; raises Unreadable on any other value."""
    number = amount(value)
    if number != int(number):
        raise Unreadable(f"is not a whole number: {number:g}")
    return int(number)


def flow(docs: Documents, supply: Resource, places: tuple[str, tuple[str, ...]]) -> Sourced | Reading:
    """Return a measured value of a power supply from its Metrics, or, in the older schema, from the supply itself."""
    newer, older = places
    reader = amount if "Voltage" in newer else drawn
    if supply.read("Status.State").reading == "Absent":
        return Absent("the slot is empty")
    metrics, unread = gather(docs.at("Metrics", supply))
    if metrics:
        sourced = metrics[0].read(f"{newer}.Reading", reader)
    elif unread is not None:
        sourced = Sourced(unread, supply.uri)
    else:
        sourced = first(supply, older, reader)
    if supply.beside is None or not isinstance(sourced.reading, Unknown):
        return sourced
    other = first(supply.beside, older, reader)
    return sourced if isinstance(other.reading, Unknown) else other


def metrics(docs: Documents) -> tuple[list[tuple[Resource, Resource]], Unknown | None]:
    """Return every chassis together with its EnvironmentMetrics, and why the list may be incomplete."""
    places, trouble = chassis(docs)
    found: list[tuple[Resource, Resource]] = []
    for place in places:
        environment, unread = gather(docs.at("EnvironmentMetrics", place))
        found += [(place, each) for each in environment]
        trouble = trouble or unread
    if not found and trouble is None:
        trouble = Unknown(Reason.NOT_COLLECTED, "no chassis of this BMC has EnvironmentMetrics")
    return found, trouble


def cap(environment: Resource) -> Sourced:
    """Return the power cap of a chassis, if `PowerLimitWatts` names the control that sets it.

    On one recorded machine, the property `PowerLimitWatts` holds the TDP of the first processor and the EDPp of the
    second, but does not name a control. The cap is therefore unknown if `PowerLimitWatts` names no control, or names a
    control that limits a single device. The set points of single devices are in the facts of the controls.
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
            Unknown(Reason.NOT_COLLECTED, f"the value is a device's {' and '.join(found)}, not a power cap"),
            sourced.source,
        )
    return sourced


def listed(group: Resource) -> Sourced:
    """Count the power supplies of one redundancy group by the group's links; repeated links count once."""
    name = "RedundancyGroup" if "RedundancyGroup" in group.body else "RedundancySet"
    return group.read(name, _links)


def _links(value: object) -> int:
    if not isinstance(value, list):
        raise Unreadable(f"is not a list of links: {clean(repr(value), 60)}", Reason.NOT_COLLECTED)
    uris = [member.get("@odata.id") if isinstance(member, dict) else None for member in value]
    if not all(isinstance(uri, str) and uri for uri in uris):
        raise Unreadable("has an item that is not a link")
    return len(set(uris))


def controls(docs: Documents) -> tuple[list[Resource], Unknown | None]:
    """Return the first PowerControl of every chassis, and why the list may be incomplete.

    The first entry of PowerControl covers the whole chassis, including its subsystems (processors, memory), for which
    further entries may follow.
    """
    places, trouble = chassis(docs)
    found: dict[str, Resource] = {}
    for place in places:
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
    """Return a property of the machine from the only chassis that reports it; unknown if none or several report it."""
    if trouble is not None:
        return trouble
    if not resources:
        return Unknown(Reason.NOT_COLLECTED, f"no chassis of this BMC has a PowerControl with {name}")
    if len(resources) > 1:
        places = ", ".join(resource.uri for resource in resources)
        return Unknown(Reason.NOT_COLLECTED, f"several chassis report {name}: {clean(places)}")
    return resources[0].read(name, reader)


def first(resource: Resource, names: Sequence[str], reader: Callable[[object], Value]) -> Sourced:
    """Read the first of the properties `names` that the resource has; if it has none of them, read the first one."""
    there = next((name for name in names if name.partition(".")[0] in resource.body), names[0])
    return resource.read(there, reader)
