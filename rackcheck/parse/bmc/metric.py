"""Metric reports of a BMC: many sensors' present values in one body."""

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
"""A property that is a whole sensor. What has a fragment is a property of something else, often its history."""

KINDS: Mapping[str, re.Pattern[str]] = {
    word: re.compile(rf"(?i:{end})(_[0-9]+)?\Z")
    for word, end in {"temperature": "temp", "power": "power", "voltage": "voltage"}.items()
}
"""Kind by the end of a sensor's name: reports give no units. `..._TempLimit_0` and `..._Energy_0` are none of these."""


@dataclass(frozen=True)
class Metric:
    """The present value of one sensor, as one report gives it."""

    name: str
    kind: str
    entry: Resource
    alone: bool

    @property
    def value(self) -> Sourced:
        """The value; a stale one, and one of several in a row, is not the present one."""
        if not self.alone:
            return Sourced(Unknown(Reason.NOT_COLLECTED, "reports give several values of it"), self.entry.uri)
        if _stale(self.entry.body):
            return Sourced(Unknown(Reason.NOT_READY, "its report calls the value stale"), self.entry.uri)
        return self.entry.read("MetricValue", drawn if self.kind == "power" else measured)


def metrics(docs: Documents) -> tuple[list[Metric], Unknown | None]:
    """Give the sensors that reports tell, and why they may not be all."""
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
                trouble = trouble or Unknown(Reason.UNPARSABLE, f"{entry.uri} names {clean(repr(place), 60)}")
    return list(_named(found)), trouble


def _named(found: Mapping[str, list[Resource]]) -> Iterator[Metric]:
    """Name each by its sensor; names that two chassis share get the chassis' before."""
    parted = {place: SENSOR.fullmatch(place) for place in found}
    names = Counter(match["sensor"] for match in parted.values() if match)
    for place, match in parted.items():
        kind = next((word for word, end in KINDS.items() if match and end.search(match["sensor"])), None)
        if match is not None and kind is not None:
            own = match["sensor"]
            name = own if names[own] == 1 else f"{match['chassis']}:{own}"
            yield Metric(name, kind, found[place][0], alone=len(found[place]) == 1)


def _stale(entry: Mapping[str, object]) -> bool:
    """Whether a vendor's words call a value stale, or are none that can be read; where there are none, it is not."""
    oem = entry.get("Oem", {})
    vendors = list(oem.values()) if isinstance(oem, Mapping) else [oem]
    return any(not isinstance(vendor, Mapping) or vendor.get(STALE, False) is not False for vendor in vendors)


STALE = "MetricValueStale"
