"""The temperature of each GPU, and its headroom, from the sensors that belong to the GPU."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reason, Unknown, clean
from rackcheck.model.redfish_value import measured
from rackcheck.model.resource import Resource, inside, same_place
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.excerpt import meaning, source
from rackcheck.parse.bmc.gpu import Gpu, gpus
from rackcheck.parse.bmc.item import fitted, gather, members
from rackcheck.parse.bmc.reading_kind import kind, related

CONTEXTS = frozenset({"GPU", "Accelerator"})
"""Values of PhysicalContext of a GPU's sensors."""

PROPERTY = "TemperatureCelsius"
LIST = "TemperatureReadingsCelsius"

SHARING = 64
"""Maximum number of GPUs for which the list of temperatures of one chassis is searched."""

MEMORIES = 64
"""Maximum number of memory parts of one GPU whose names are compared with the names of sensors."""


@dataclass(frozen=True)
class Heat:
    """The temperature of one GPU, and how far it is below a limit of its own."""

    temperature: Sourced
    headroom: Sourced


@dataclass(frozen=True)
class _Sensors:
    """The sensors of one GPU by kind, and why there may be more of them."""

    of: dict[str, list[Resource]]
    doubt: Unknown | None = None

    def only(self, word: str, place: str) -> Sourced | None:
        """Return the reading of the only sensor of a kind; unknown if there are several, None if there is none."""
        found = self.of.get(word, [])
        if len(found) > 1:
            names = clean(", ".join(sensor.id for sensor in found), 200)
            return Sourced(Unknown(Reason.NOT_COLLECTED, f"several sensors measure its {word}: {names}"), place)
        if self.doubt is not None:
            return Sourced(self.doubt, place)
        return fitted(found[0], "Reading", measured) if found else None


def heats(docs: Documents) -> Iterator[tuple[str, Heat]]:
    """Yield every GPU with its name, temperature and headroom.

    EnvironmentMetrics names one sensor of a GPU. On recorded boards this sensor is the headroom, and the list of the
    GPU's chassis has the temperature.
    """
    found, _ = gpus(docs)
    chassis = {key: next(iter(gather(docs.at("Links/Chassis", gpu.resource))[0]), None) for key, gpu in found}
    taken = _taken(docs)
    uris = frozenset(gpu.resource.uri for _, gpu in found)
    sharing = Counter(place.uri for place in chassis.values() if place is not None)
    for key, gpu in found:
        place = chassis[key]
        alone = place is not None and taken[place.uri] == 1
        many = None
        if place is not None and sharing[place.uri] > SHARING:
            why = f"{sharing[place.uri]} GPUs share {place.uri}; its sensors are searched for at most {SHARING}"
            many = Unknown(Reason.NOT_READ_FURTHER, why)
        yield key, _heat(docs, gpu, _Relations(docs, gpu, place, uris, alone=alone, doubt=many))


def _taken(docs: Documents) -> Counter[str]:
    """Count the processors and systems that link to each chassis; a GPU's own chassis is linked by the GPU alone."""
    links: list[str] = []
    for holder in (*members(docs, "Systems")[0], *gather(docs.at("Systems/*/Processors/*"))[0]):
        found = holder.body.get("Links")
        places = found.get("Chassis") if isinstance(found, Mapping) else None
        for place in places if isinstance(places, list) else [places]:
            uri = place.get("@odata.id") if isinstance(place, Mapping) else None
            links += [same_place(uri)] if isinstance(uri, str) else []
    return Counter(links)


def walked(docs: Documents) -> None:
    """Fetch the sensors of the GPUs' temperatures."""
    for _ in heats(docs):
        pass


class _Relations:
    """Which sensors belong to one GPU: by RelatedItem, or because the sensor is in a chassis of this GPU alone."""

    def __init__(
        self,
        docs: Documents,
        gpu: Gpu,
        chassis: Resource | None,
        gpus_: frozenset[str],
        *,
        alone: bool,
        doubt: Unknown | None,
    ) -> None:
        self.chassis, self.alone, self.doubt = chassis, alone, doubt
        memory = frozenset(part.id for part in gather(docs.at("Links/Memory/*", gpu.resource))[0])
        if len(memory) > MEMORIES:
            why = f"{gpu.resource.uri} links to {len(memory)} memory parts; at most {MEMORIES} are compared"
            self.doubt = doubt or Unknown(Reason.NOT_READ_FURTHER, why)
        names = "|".join(re.escape(id_) for id_ in sorted(memory)[:MEMORIES] if len(id_) > 3)
        self.memory = re.compile(rf"(?<![^\W_])(?:{names})(?![^\W_])") if names else None
        self.own = {gpu.resource.uri, *([gpu.device.uri] if gpu.device is not None else [])}
        if chassis is not None and alone:
            self.own.add(chassis.uri)
        self.gpus = gpus_
        self.above = gpu.resource.uri

    def may_list(self, entry: Resource) -> bool:
        """Return whether an entry in the chassis' list of temperatures may be of the GPU's own chip."""
        context, link = entry.body.get("PhysicalContext"), entry.body.get("DataSourceUri")
        if str(context) not in CONTEXTS and not (self.alone and context is None):
            return False
        return not (isinstance(link, str) and self._of_memory(link))

    def _of_memory(self, uri: str) -> bool:
        """Return whether a sensor is named after memory of the GPU; recorded boards relate it to the GPU itself."""
        name = uri.rstrip("/").rpartition("/")[2]
        return self.memory is not None and self.memory.search(name) is not None

    def has(self, sensor: Resource) -> bool:
        """Return whether a sensor belongs to the GPU's chip."""
        context, items = sensor.body.get("PhysicalContext"), related(sensor)
        if self._of_memory(sensor.uri) or (context is not None and str(context) not in CONTEXTS):
            return False
        if items & self.own:
            return True
        containers = all(self.above.startswith(f"{item}/") for item in items)
        return containers and self.alone and self.chassis is not None and sensor.uri.startswith(f"{self.chassis.uri}/")

    def another(self, sensor: Resource) -> bool:
        """Return whether a sensor states that it belongs to another GPU, or to memory."""
        items = related(sensor)
        return not items & self.own and bool(items & self.gpus or any("/Memory/" in item for item in items))


def _heat(docs: Documents, gpu: Gpu, relations: _Relations) -> Heat:
    metrics, trouble = gather(docs.at("EnvironmentMetrics", gpu.resource))
    environment = metrics[0] if metrics else Resource(f"{gpu.resource.uri}#/EnvironmentMetrics", {}, trouble)
    value = environment.read(f"{PROPERTY}.Reading", measured)
    named, what = _named(docs, environment, relations)
    sensors = _sensors(docs, named, relations)
    place = value.source
    headroom = sensors.only("headroom", place)
    if what.reading == "temperature" and not isinstance(value.reading, Unknown):
        temperature: Sourced | None = value
    else:
        temperature = sensors.only("temperature", place)
    if temperature is None:
        lost = value.reading if isinstance(value.reading, Unknown) else what.reading
        none = Unknown(Reason.NOT_COLLECTED, "no sensor of this GPU's temperature is known")
        temperature = Sourced(lost if isinstance(lost, Unknown) else none, place)
    if headroom is None:
        known = not isinstance(temperature.reading, Unknown)
        nothing = Absent("the BMC reports no headroom for it") if known else temperature.reading
        headroom = Sourced(nothing, place)
    return Heat(gpu.there(temperature), gpu.there(headroom))


def _named(docs: Documents, environment: Resource, relations: _Relations) -> tuple[Resource | None, Sourced]:
    """Return the sensor that EnvironmentMetrics names for the temperature, and what the sensor measures."""
    body = environment.body.get(PROPERTY)
    if environment.unread is not None or not isinstance(body, Mapping):
        none = environment.unread or Unknown(Reason.NOT_COLLECTED, f"{PROPERTY} is null or missing")
        return None, Sourced(none, environment.uri)
    excerpt = Resource(inside(environment.uri, PROPERTY), body, above=environment)
    sensor = source(docs, excerpt)
    if isinstance(sensor, Resource) and relations.another(sensor):
        odd = Unknown(Reason.UNPARSABLE, f"DataSourceUri leads to a sensor of another part: {clean(sensor.uri, 200)}")
        return None, Sourced(odd, excerpt.uri)
    return sensor if isinstance(sensor, Resource) else None, meaning(docs, excerpt, "GPU")


def _sensors(docs: Documents, named: Resource | None, relations: _Relations) -> _Sensors:
    """Return the sensors of a GPU's chip: the one that EnvironmentMetrics names, and those that its chassis lists."""
    found: dict[str, list[Resource]] = {}
    seen: set[str] = set()
    doubt: Unknown | None = None
    for sensor in (named, *_entries(docs, relations)):
        if isinstance(sensor, Unknown):
            doubt = doubt or sensor
        if not isinstance(sensor, Resource) or sensor.uri in seen:
            continue
        seen.add(sensor.uri)
        what = kind(sensor).reading
        if sensor is not named and not relations.has(sensor):
            continue
        if isinstance(what, Unknown):
            doubt = doubt or Unknown(what.reason, f"{sensor.id}: {what.detail}")
        else:
            found.setdefault(str(what), []).append(sensor)
    return _Sensors(found, doubt)


def _entries(docs: Documents, relations: _Relations) -> Iterable[Resource | Unknown | None]:
    """Return the sensors in the list of temperatures of the GPU's chassis; unknown if one of them was not read."""
    if relations.chassis is None or relations.doubt is not None:
        return [relations.doubt]
    holders, trouble = gather(docs.at("ThermalSubsystem/ThermalMetrics", relations.chassis))
    found: list[Resource | Unknown | None] = [trouble]
    for holder in holders:
        if holder.unread is not None:
            found.append(holder.unread)
            continue
        entries, cut = gather(holder.parts(LIST))
        found += [cut, *(source(docs, entry) for entry in entries if relations.may_list(entry))]
    return found
