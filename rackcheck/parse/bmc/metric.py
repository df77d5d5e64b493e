"""Metric reports of a BMC: each resource has the current values of many sensors."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.redfish_value import measured
from rackcheck.model.resource import Resource
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.item import gather, members
from rackcheck.parse.bmc.power import drawn

SENSOR = re.compile(r"/redfish/v1/Chassis/(?P<chassis>[^/#]{1,200})/Sensors/(?P<sensor>[^/#]{1,200})")
"""Matches the URI of a sensor.

A URI with an anchor (`#...`) does not match, because it is the URI of something else, often of the sensor's history.
"""

KINDS: Mapping[str, re.Pattern[str]] = {
    word: re.compile(rf"(?i:{end})(_[0-9]+)?\Z")
    for word, end in {"temperature": "temp", "power": "power", "voltage": "voltage"}.items()
}
"""For each kind of sensor, a pattern for the end of the sensor's name, because metric reports contain no units.

Sensors whose names match no pattern, such as `_TempLimit_0` and `_Energy_0`, have no kind.
"""


@dataclass(frozen=True)
class Metric:
    """The current value of one sensor, as a Redfish metric report lists it."""

    name: str
    kind: str
    entry: Resource
    alone: bool

    @property
    def value(self) -> Sourced:
        """The sensor's value; unknown if it is stale, or if the reports have several values of the sensor."""
        if not self.alone:
            return Sourced(
                Unknown(Reason.NOT_COLLECTED, "the metric reports have several values of this sensor"), self.entry.uri
            )
        if _stale(self.entry.body):
            return Sourced(Unknown(Reason.NOT_READY, "the metric report marks the value as stale"), self.entry.uri)
        return self.entry.read("MetricValue", drawn if self.kind == "power" else measured)


def metrics(docs: Documents) -> tuple[list[Metric], Unknown | None]:
    """Return the sensors in the metric reports, and why the list may be incomplete."""
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
    return list(_named(found)), trouble


def _named(found: Mapping[str, list[Resource]]) -> Iterator[Metric]:
    """Yield each metric under its sensor's name; the chassis' name precedes a sensor name that several chassis have."""
    parted = {place: SENSOR.fullmatch(place) for place in found}
    names = Counter(match["sensor"] for match in parted.values() if match)
    for place, match in parted.items():
        kind = next((word for word, end in KINDS.items() if match and end.search(match["sensor"])), None)
        if match is not None and kind is not None:
            own = match["sensor"]
            name = own if names[own] == 1 else f"{match['chassis']}:{own}"
            yield Metric(name, kind, found[place][0], alone=len(found[place]) == 1)


def _stale(entry: Mapping[str, object]) -> bool:
    """Return whether a vendor's property marks a value as stale; True if it is unreadable, False if it is missing."""
    oem = entry.get("Oem", {})
    vendors = list(oem.values()) if isinstance(oem, Mapping) else [oem]
    return any(not isinstance(vendor, Mapping) or vendor.get(STALE, False) is not False for vendor in vendors)


STALE = "MetricValueStale"
