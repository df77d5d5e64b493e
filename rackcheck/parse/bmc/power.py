"""Power of a BMC's chassis: redundancy groups, what the whole draws and may draw, in the older and the newer form."""

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
"""Where a power shelf lists its supplies that no chassis does."""

GROUPS: tuple[LinkForm, LinkForm] = (("PowerSubsystem", "PowerSupplyRedundancy"), ("Power", "Redundancy"))

METRICS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "input_voltage": ("InputVoltage", ("LineInputVoltage",)),
    "input_power": ("InputPowerWatts", ("PowerInputWatts",)),
    "output_power": ("OutputPowerWatts", ("PowerOutputWatts", "LastPowerOutputWatts")),
}
"""Where the metrics of a power supply say a thing, and where the older form says it."""


def drawn(value: object) -> float:
    """Give watts that flow; a zero is what a machine that is off says, and one that does not measure."""
    watts = amount(value)
    if watts == 0:
        raise Unreadable("says 0, as one does that does not know", Reason.NOT_COLLECTED)
    return watts


def supplies(docs: Documents) -> tuple[list[Resource], Unknown | None]:
    """Give the power supplies of every chassis, else those of the power shelves, and why they may not be all.

    A member that its BMC does not find, though the collection holds its body, is that body.
    """
    found, trouble = in_chassis(docs, *SUPPLIES)
    if found or not any("PowerEquipment" in root.body for root in docs.at("")):
        return [_embedded(each) for each in found], trouble
    chassis, unread = members(docs, "Chassis")
    silent = unread is None and not any(form[0].partition("/")[0] in each.body for each in chassis for form in SUPPLIES)
    shelved, cut = read_ones(*gather(docs.at(SHELVES)))
    if silent and (shelved or cut is not None):
        trouble = cut  # the chassis need not speak of supplies that stand in the shelf
    return [_embedded(each) for each in shelved], trouble or cut


def walked(docs: Documents) -> None:
    """Go to the metrics of every power supply."""
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
    """Give the redundancy groups of every chassis, and why they may not be all.

    A chassis without power supplies need not speak of redundancy; one that has some and is silent leaves it unknown.
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
    """Give the groups of one chassis in the first form that lists any, or why none does."""
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
    """Give a number of things."""
    number = amount(value)
    if number != int(number):
        raise Unreadable(f"no number of things: {number:g}")
    return int(number)


def flow(docs: Documents, supply: Resource, places: tuple[str, tuple[str, ...]]) -> Sourced | Reading:
    """Read one measure of a supply: of its Metrics where it has such, else of itself, as the older form does."""
    newer, older = places
    reader = amount if "Voltage" in newer else drawn
    if supply.read("Status.State").reading == "Absent":
        return Absent("the slot is empty")
    metrics, unread = gather(docs.at("Metrics", supply))
    if metrics:
        return metrics[0].read(f"{newer}.Reading", reader)
    return unread if unread is not None else first(supply, older, reader)


def metrics(docs: Documents) -> tuple[list[tuple[Resource, Resource]], Unknown | None]:
    """Give every chassis that has EnvironmentMetrics with that resource, and why they may not be all."""
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
    """Give the power cap of a chassis, where it names the control it is of.

    One recorded machine gives TDP for its first processor and EDPp for its second in this very place, and names
    neither: what does not say its purpose, and what is a set point of one device, is left to the controls.
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
    """Count the supplies of one group, by the links it lists; several links to one are one."""
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
    """Give the first PowerControl of every chassis, which stands for the whole of it, and why they may not be all.

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
    """Give what one chassis says of the whole machine; where several are there, nobody knows which is the whole."""
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
