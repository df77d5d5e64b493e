"""Items of a BMC's collections and arrays: read up to the first failure, and named as the BMC names them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rackcheck.model import identity
from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable, Value, clean
from rackcheck.model.redfish_value import BROKEN, HEALTH, amount, health, text_of
from rackcheck.model.resource import Resource, inside
from rackcheck.model.text import Sourced


def gather(resources: Iterable[Resource]) -> tuple[list[Resource], Unknown | None]:
    """Return the resources up to the first failure, and why the list may be incomplete."""
    found: list[Resource] = []
    try:
        for resource in resources:
            found.append(resource)  # noqa: PERF402  resources before a failure are kept
    except Unreadable as error:
        return found, Unknown(error.reason, str(error))
    return found, None


def read_ones(found: list[Resource], trouble: Unknown | None) -> tuple[list[Resource], Unknown | None]:
    """Return the resources that could be fetched, and why the list may be incomplete.

    A resource that could not be fetched is left out, because its name is unknown: if its URI served as the name,
    the item would look new, and the item with the right name would look absent. A resource that the BMC lists but does
    not have (404) is kept.
    """
    kept = [r for r in found if r.unread is None or not_there(r.unread)]
    lost = next((r.unread for r in found if r.unread is not None and not not_there(r.unread)), None)
    return kept, trouble or lost


def named_ones(found: list[Resource], trouble: Unknown | None) -> tuple[list[Resource], Unknown | None]:
    """Return the resources that could be fetched, as `read_ones` does, and of those that are 404 the ones with a name.

    The name of a resource that the BMC does not have (404) is the last segment of its URI, as the standard's URIs
    contain the Id. If another resource of its collection has an Id that differs from its URI, or if it is the only one,
    the name is unknown, and the list is incomplete: on a recorded machine, such a port of an adapter has another Id.
    """
    kept, trouble = read_ones(found, trouble)
    sizes = Counter(map(_collection, found))
    odd = {_collection(each) for each in kept if each.unread is None and each.id != _segment(each)}
    lost = {
        each.uri: each
        for each in kept
        if each.unread is not None and (_collection(each) in odd or sizes[_collection(each)] == 1)
    }
    return [each for each in kept if each.uri not in lost], trouble or gone(lost.values())


def _collection(resource: Resource) -> str:
    return resource.uri.rstrip("/").rpartition("/")[0]


def _segment(resource: Resource) -> str:
    return resource.uri.rstrip("/").rpartition("/")[2]


def members(docs: Documents, link: str) -> tuple[list[Resource], Unknown | None]:
    """Return a collection's members, and why they may be incomplete: for example, the collection is missing."""
    collections, trouble = gather(docs.at(link))
    if trouble is None and not collections:
        trouble = Unknown(Reason.NOT_COLLECTED, f"this BMC has no {link}")
    found: list[Resource] = []
    for collection in collections:
        more, cut = gather(docs.at("*", collection))
        found += more
        trouble = trouble or cut
    return read_ones(found, trouble)


def gone(resources: Iterable[Resource]) -> Unknown | None:
    """Return the reason of the first of these resources that is listed, but that the BMC does not have (404)."""
    for each in resources:
        if each.unread is not None and not_there(each.unread):
            return Unknown(each.unread.reason, f"{each.uri}: {each.unread.detail}")
    return None


def not_there(unread: Unknown) -> bool:
    """Return whether a resource could not be read because the BMC does not have it (404)."""
    return unread.reason is Reason.NOT_COLLECTED and "HTTP 404" in unread.detail


def short(unread: Unknown) -> bool:
    """Return whether a list may be incomplete only because its count is larger than the number of listed members."""
    return unread.reason is Reason.UNPARSABLE and "reports a count of" in unread.detail


def keyed(
    resources: Sequence[Resource], name: Callable[[Resource], str] = lambda r: r.id
) -> Iterator[tuple[str, Resource]]:
    """Yield each resource with a unique name.

    A name that several items have is extended by the chassis' Id; if it is still repeated, by the URI's last segment,
    and then by the URI. Raises Unreadable if extended names are repeated too, because a name may be forged to look like
    another item's extended name.
    """
    keys = [name(resource) for resource in resources]
    for longer in (_with_owner, _with_place, _with_uri):
        twice = {key for key, count in Counter(keys).items() if count > 1}
        keys = [longer(k, r) if k in twice else k for k, r in zip(keys, resources, strict=True)]
    if len(set(keys)) < len(keys):
        raise Unreadable("items of this BMC cannot be distinguished by their names")
    return zip(keys, resources, strict=True)


def _with_owner(key: str, resource: Resource) -> str:
    return f"{resource.owner.id}:{key}" if resource.owner is not None else key


def _with_place(key: str, resource: Resource) -> str:
    return f"{key}:{resource.uri.rpartition('/')[2]}"


def _with_uri(key: str, resource: Resource) -> str:
    return f"{key}:{resource.uri}"


def named(resource: Resource) -> str:
    """Return a sensor's Name or DeviceName, else the last segment of its DataSourceUri, else its Id."""
    for name in ("Name", "DeviceName", "DataSourceUri"):
        own = resource.body.get(name)
        if isinstance(own, str) and own.strip("/ ") and BROKEN not in own:
            return own.strip("/ ").rpartition("/")[2] if name == "DataSourceUri" else own.strip()
    return resource.id


def fitted(resource: Resource, name: str, reader: Callable[[object], Value] = text_of) -> Sourced:
    """Read a property of an item in a slot; absent if the slot is empty, as some BMCs then return zeros."""
    sourced = resource.read(name, reader)
    state = resource.state
    if state == "Absent":
        return Sourced(Absent("the slot is empty"), sourced.source)
    status = resource.body.get("Status")
    identifies = "Status" in resource.body and (not isinstance(status, Mapping) or "State" in status)
    if isinstance(state, Unknown) and identifies and not _occupied(resource):
        return Sourced(Unknown(state.reason, f"whether the slot is empty is unknown: {state.detail}"), sourced.source)
    return sourced


def _occupied(resource: Resource) -> bool:
    """Return whether a part whose state is unknown shows that it is there: by its identity, or by a size above zero.

    A placeholder ("Not Present", "Empty", "NA") is no identity; a part may have one, and still have a model.
    """
    words = {name: resource.read(name).reading for name in SHOWN}
    sizes = (resource.read(name, amount).reading for name in SIZES)
    return any(isinstance(word, str) and SHOWN[name](word) for name, word in words.items()) or any(
        isinstance(size, float) and size > 0 for size in sizes
    )


SHOWN: Mapping[str, Callable[[str], object]] = {
    "SerialNumber": identity.serial,
    "PartNumber": identity.is_label,
    "Model": identity.is_label,
}
"""Properties that show that a part is there; for each, a function whose result is false for a placeholder."""

SIZES = ("CapacityMiB", "CapacityBytes", "PowerCapacityWatts", "TotalCores")


def reported(resource: Resource, name: str, reader: Callable[[object], Value]) -> Sourced:
    """Read a property that only some vendors return (`Oem.Nvidia.ISTModeEnabled`); absent if the body does not have it.

    A property is unknown if it is null, or if an object on the path to it is invalid.
    """
    body: object = resource.body
    for word in name.split(".") if resource.unread is None else ():
        if not isinstance(body, Mapping):
            break
        if word not in body:
            return Sourced(Absent(f"the BMC reports no {name}"), inside(resource.uri, *name.split(".")))
        body = body[word]
    return resource.read(name, reader)


def health_of(resource: Resource) -> Sourced:
    """Read the health of an item in a slot; absent if the slot is empty, or if the BMC has no health for the item.

    Many resources have no `Status.Health` by design: chassis that group others, sensors without thresholds. If other
    items of the collection have a health, a rule that judges a missing health treats it as unknown. If `Status.Health`
    is null or missing, a `HealthRollup` of OK serves, because it covers the item and everything below it (Redfish
    schema Resource); a worse one may be that of another part, and leaves the health unknown. A condition in
    `Status.Conditions` that is worse than the health replaces it.
    """
    sourced = fitted(resource, "Status.Health", health)
    if isinstance(sourced.reading, Unknown) and resource.unread is None and resource.value("Status.Health") is None:
        sourced = _rolled_up(resource) or sourced
    sourced = sourced if isinstance(sourced.reading, Absent) else with_conditions(resource, sourced)
    sourced = _worse(sourced, resource.beside)
    status = resource.body.get("Status", {})
    silent = isinstance(status, Mapping) and not {"Health", "HealthRollup"} & status.keys()
    silent = silent and status.get("State", "") is not None
    if resource.unread is None and silent and isinstance(sourced.reading, Unknown):
        return Sourced(Absent("the BMC reports no health for it"), sourced.source)
    return sourced


def _worse(sourced: Sourced, beside: Resource | None) -> Sourced:
    """Return a known health of an item, or that of the same item in another collection (`beside`) if it is worse.

    An entry in a list inside an older resource (`Power#/PowerSupplies/0`) is no other word on a known health: recorded
    BMCs keep it out of date. If the other collection or its health could not be read, a health that is not the worst is
    unknown; if the other collection has no health of the item by design, it is no word on it.
    """
    if beside is None or "#" in beside.uri or sourced.reading not in HEALTH:
        return sourced
    other = Sourced(beside.unread, beside.uri) if beside.unread is not None else health_of(beside)
    if isinstance(other.reading, Unknown):
        why = f"another list that may have a worse one was not read: {beside.uri}: {other.reading.detail}"
        return sourced if sourced.reading == HEALTH[-1] else Sourced(Unknown(other.reading.reason, why), sourced.source)
    worse = other.reading in HEALTH and HEALTH.index(other.reading) > HEALTH.index(sourced.reading)
    return other if worse else sourced


def _rolled_up(resource: Resource) -> Sourced | None:
    """Return the health that `HealthRollup` shows for the item itself; None if the item has no rollup."""
    sourced = fitted(resource, "Status.HealthRollup", health)
    if isinstance(sourced.reading, Unknown | Absent) or sourced.reading == HEALTH[0]:
        return sourced if sourced.reading == HEALTH[0] else None
    why = f"Status.Health is null or missing, and HealthRollup is {sourced.reading}: of this part, or of one below it"
    return Sourced(Unknown(Reason.NOT_COLLECTED, why), sourced.source)


def with_conditions(resource: Resource, sourced: Sourced) -> Sourced:
    """Return a resource's health, or the worst severity of its `Status.Conditions` if that is worse or the only one.

    A condition is an active fault that requires attention (Redfish schema Resource); a recorded GB200 tray returns a
    processor whose health is OK and whose condition is Critical. If the severity of a condition is invalid, a health of
    OK is unknown.
    """
    status = resource.body.get("Status")
    rows = status.get("Conditions") if isinstance(status, Mapping) else None
    own = HEALTH.index(sourced.reading) if sourced.reading in HEALTH else 0
    worst, odd = own, None if rows is None or isinstance(rows, list) else "is not a list"
    for index, row in enumerate(rows if isinstance(rows, list) else []):
        severity = row.get("Severity") if isinstance(row, Mapping) else None
        if severity not in HEALTH:
            odd = odd or f"has an entry with the severity {clean(repr(severity), 60)}"
        elif HEALTH.index(severity) > worst:
            worst = HEALTH.index(severity)
            place = inside(resource.uri, "Status", "Conditions", str(index), "Severity")
            sourced = Sourced(HEALTH[worst], place)
    if odd is not None and sourced.reading == HEALTH[0]:
        return Sourced(Unknown(Reason.UNPARSABLE, f"Status.Conditions {odd}"), sourced.source)
    return sourced


def state_of(resource: Resource) -> Sourced:
    """Read the `Status.State` of an item; absent if the BMC has none for it, as for a power supply without a Status.

    A state of null is unknown. If other items of the collection have a state, a rule that judges a missing state treats
    it as unknown.
    """
    sourced = resource.read("Status.State")
    status = resource.body.get("Status", {})
    silent = isinstance(status, Mapping) and "State" not in status
    silent = silent and resource.unread is None and isinstance(sourced.reading, Unknown)
    return Sourced(Absent("the BMC reports no state for it"), sourced.source) if silent else sourced
