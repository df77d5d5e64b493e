"""Metric reports of a BMC: each resource has the current values of many sensors."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.regex import regex
from rackcheck.model.resource import Resource
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.excerpt import SOURCE, source
from rackcheck.parse.bmc.item import gather, members
from rackcheck.parse.bmc.reading_kind import quantity
from rackcheck.parse.bmc.sensor import of_kind, scaled, words

SENSOR = regex(r"/redfish/v1/Chassis/(?P<chassis>[^/#]{1,200})/Sensors/(?P<sensor>[^/#]{1,200})")
"""Matches the URI of a sensor.

A URI with an anchor (`#...`) does not match, because it is the URI of something else, often of the sensor's history.
"""


@dataclass(frozen=True)
class Metric:
    """The current value of one sensor, as a Redfish metric report lists it; `sensor` says what the value means."""

    name: str
    sensor: Resource
    entry: Resource
    alone: bool

    @property
    def values(self) -> Iterator[tuple[str, Sourced]]:
        """The kinds under which the sensor is listed, and its value; unknown if it is stale, or has several values."""
        for word in words(self.sensor):
            yield word, self._unclear or of_kind(self.sensor, word, self._read(word))

    def _read(self, word: str) -> Sourced:
        return self.entry.read("MetricValue", scaled(self.sensor, word))

    @property
    def _unclear(self) -> Sourced | None:
        if not self.alone:
            return Sourced(
                Unknown(Reason.NOT_COLLECTED, "the metric reports have several values of this sensor"), self.entry.uri
            )
        if _stale(self.entry.body):
            return Sourced(Unknown(Reason.NOT_READY, "the metric report marks the value as stale"), self.entry.uri)
        return None


def metrics(docs: Documents) -> tuple[list[Metric], Unknown | None]:
    """Return the sensors in the metric reports, and why the list may be incomplete.

    A report contains neither units nor thresholds: each value has the meaning of the sensor that it belongs to. A
    sensor that was not read, or that does not report what it measures, makes the list incomplete.
    """
    found, trouble = _listed(docs)
    names = _names(found)
    kept: list[Metric] = []
    for place, entries in found.items():
        entry = entries[0]
        sensor = source(docs, Resource(entry.uri, {SOURCE: place}, above=entry))
        if not isinstance(sensor, Resource):
            trouble = trouble or (sensor if isinstance(sensor, Unknown) else None)
            continue
        kept.append(Metric(names[place], sensor, entry, alone=len(entries) == 1))
        what = quantity(sensor).word.reading
        trouble = trouble or (what if isinstance(what, Unknown) else None)
    return kept, trouble


def _names(places: Iterable[str]) -> dict[str, str]:
    """Return a unique name for the sensor at each URI: its last segment.

    If several sensors have this name, the chassis' name precedes it; if that name is repeated too, the URI is the name.
    """
    parted = {place: match for place in places if (match := SENSOR.fullmatch(place))}
    own = Counter(match["sensor"] for match in parted.values())
    names = {
        place: match["sensor"] if own[match["sensor"]] == 1 else f"{match['chassis']}:{match['sensor']}"
        for place, match in parted.items()
    }
    counts = Counter(names.values())
    return {place: name if counts[name] == 1 else place for place, name in names.items()}


def _listed(docs: Documents) -> tuple[dict[str, list[Resource]], Unknown | None]:
    """Return the values in the metric reports by the URI of their sensor, and why they may be incomplete."""
    reports, trouble = members(docs, "TelemetryService/MetricReports")
    found: dict[str, list[Resource]] = {}
    for report in reports:
        entries, cut = gather(report.parts("MetricValues"))
        trouble = trouble or cut
        for entry in entries:
            place = entry.body.get("MetricProperty")
            if isinstance(place, str) and SENSOR.fullmatch(place):
                found.setdefault(place, []).append(entry)
            elif not isinstance(place, str) and "MetricProperty" in entry.body:
                trouble = trouble or Unknown(
                    Reason.UNPARSABLE, f"{entry.uri}: MetricProperty is {clean(repr(place), 60)}"
                )
    return found, trouble


def walked(docs: Documents) -> None:
    """Fetch the sensors whose values are in the metric reports."""
    metrics(docs)


def _stale(entry: Mapping[str, object]) -> bool:
    """Return whether a vendor's property marks a value as stale; True if it is unreadable, False if it is missing."""
    oem = entry.get("Oem", {})
    vendors = list(oem.values()) if isinstance(oem, Mapping) else [oem]
    return any(not isinstance(vendor, Mapping) or vendor.get(STALE, False) is not False for vendor in vendors)


STALE = "MetricValueStale"
