"""Excerpts of sensors: copies of a reading in other resources, which have the meaning of the sensor they name."""

from collections.abc import Mapping

from rackcheck.model.documents import Documents, Missing
from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable, clean
from rackcheck.model.resource import Resource, why
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.reading_kind import SILICON, celsius, is_silicon, kind

SOURCE = "DataSourceUri"


def source(docs: Documents, excerpt: Resource) -> Resource | Unknown | None:
    """Return the sensor that an excerpt is a copy of, or why it is unknown; None if the excerpt names no sensor.

    The sensor may be a part of a resource: `/redfish/v1/Chassis/1/Thermal#/Temperatures/3`.
    """
    if SOURCE not in excerpt.body:
        return None
    link = excerpt.body[SOURCE]
    if not isinstance(link, str):
        return Unknown(why(link), f"{SOURCE} is {clean(repr(link), 60)}")
    uri, _, pointer = link.partition("#")
    try:
        sensor = docs.fetched(uri, excerpt)
    except Unreadable as error:
        return Unknown(error.reason, clean(str(error)))
    except Missing:
        return Unknown(Reason.NOT_COLLECTED, f"its sensor was not read: {clean(uri, 200)}")
    if sensor.unread is not None:
        return Unknown(sensor.unread.reason, f"its sensor {clean(uri, 200)} was not read: {sensor.unread.detail}")
    part = _part(sensor.body, pointer)
    if not isinstance(part, Mapping):
        return Unknown(Reason.UNPARSABLE, f"{SOURCE} leads to no sensor: {clean(link, 200)}")
    return sensor if part is sensor.body else Resource(f"{uri}#{pointer}", part, above=sensor)


LONGEST = 8
"""Number of digits at which an index in a JSON pointer is beyond any list."""


def _index(step: str) -> int:
    """Return a step of a JSON pointer as the index of a list; an index beyond any list if it is none."""
    return int(step) if len(step) < LONGEST and step.isascii() and step.isdecimal() else 10**LONGEST


def _part(body: object, pointer: str) -> object:
    """Follow a JSON pointer (`/Temperatures/3`) inside a body; None if there is nothing at this place."""
    for step in pointer.strip("/").split("/") if pointer.strip("/") else ():
        if isinstance(body, Mapping):
            body = body.get(step)
        elif isinstance(body, list) and _index(step) < len(body):
            body = body[_index(step)]
        else:
            return None
    return body


def meaning(docs: Documents, excerpt: Resource, context: str = "") -> Sourced:
    """Return the kind of a reading in degrees: that of the sensor which it is copied from.

    An excerpt that names no sensor is a temperature, unless it belongs to a chip or to an unknown part: it may then be
    a headroom, and its kind is unknown. An entry of the older Thermal resource is a sensor of its own. `context` is the
    context of an excerpt that has none itself.
    """
    sensor = source(docs, excerpt)
    if isinstance(sensor, Unknown):
        return Sourced(Unknown(sensor.reason, f"what it measures is unknown: {sensor.detail}"), excerpt.uri)
    if sensor is not None:
        return celsius(sensor) if _is_older(sensor) else kind(sensor)
    if _is_older(excerpt) or "ReadingBasis" in excerpt.body:
        return celsius(excerpt)
    place = excerpt.body.get("PhysicalContext", context or None)
    if is_silicon(excerpt) or not isinstance(place, str) or place in SILICON:
        return Sourced(
            Unknown(Reason.NOT_COLLECTED, "what it measures is unknown: it names no sensor, and may be a headroom"),
            excerpt.uri,
        )
    return celsius(excerpt)


def _is_older(entry: Resource) -> bool:
    """Return whether an entry is a sensor of the older Thermal resource."""
    return "ReadingCelsius" in entry.body or "#/Temperatures/" in entry.uri


def reading(excerpt: Resource, what: Sourced, wanted: str, value: Sourced) -> Sourced:
    """Return the value of an excerpt if its kind `what` is the `wanted` one, else why there is no such value."""
    if what.reading == wanted or isinstance(value.reading, (Absent, Unknown)):
        return value
    if isinstance(what.reading, Unknown):
        return Sourced(what.reading, excerpt.uri)
    doubt = f"its sensor measures another kind of reading: {what.reading} ({what.source})"
    return Sourced(Unknown(Reason.NOT_COLLECTED, doubt), excerpt.uri)
