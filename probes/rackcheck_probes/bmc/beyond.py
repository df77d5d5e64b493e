"""Sensors whose reading is beyond a critical threshold of the sensor itself, whatever their health is."""

from collections.abc import Iterator, Mapping

from rackcheck import Class, Documents, Facts, Redfish, collection, probe, spell_key, text
from rackcheck.model.fact import Unknown
from rackcheck.model.redfish_value import measured
from rackcheck.model.resource import ROOT, Resource
from rackcheck.parse.bmc.item import gather, members, named, not_there

LINKS = ("Chassis/*/Thermal", "Chassis/*/Power")
MANY = "Chassis/*/Sensors/*"
LISTS = {"Temperatures": "ReadingCelsius", "Fans": "Reading", "Voltages": "ReadingVolts"}
"""Lists of sensors in Redfish's older Thermal and Power resources, and the property of each that has the reading."""

UPPER = ("UpperThresholdCritical", "UpperThresholdFatal", "Thresholds.UpperCritical.Reading")
LOWER = ("LowerThresholdCritical", "LowerThresholdFatal", "Thresholds.LowerCritical.Reading")


@probe(
    Redfish(*LINKS, whole=(MANY,)),
    gives={
        "bmc.beyond": collection("sensors beyond a critical threshold of their own, by path"),
        "bmc.beyond/*.name": text("The sensor's name.", Class.IDENTITY),
        "bmc.beyond/*.reading": text(
            "The reading and the threshold that it is beyond: 2400, below 2436.", Class.MEASUREMENT
        ),
    },
)
def bmc_beyond(docs: Documents) -> Facts:
    """List the temperatures, voltages and fan speeds that are beyond a critical threshold which the BMC returns."""
    lost = members(docs, "Chassis")[1]
    for link in (*LINKS, MANY):
        resources, trouble = gather(docs.at(link))
        missing = trouble is not None and not_there(trouble)
        lost = lost or (None if missing else trouble)
        for resource in resources:
            lost = lost or resource.unread
            sensors, cut = ([(resource, "Reading")], None) if link == MANY else _listed(resource)
            lost = lost or cut
            for sensor, name in sensors:
                words = _beyond(sensor, name)
                if words:
                    item = f"bmc.beyond/{spell_key(sensor.uri.removeprefix(f'{ROOT}/'))}"
                    yield f"{item}.name", named(sensor)
                    yield f"{item}.reading", words
    if lost is not None:
        yield "bmc.beyond", lost


def _listed(resource: Resource) -> tuple[list[tuple[Resource, str]], Unknown | None]:
    found: list[tuple[Resource, str]] = []
    cut: Unknown | None = None
    for name, reading in LISTS.items():
        parts, trouble = gather(resource.parts(name))
        cut = cut or trouble
        found += [(part, reading) for part in parts]
    return found, cut


def _beyond(sensor: Resource, name: str) -> str:
    """Format the reading and the threshold that it is beyond; empty if it is beyond none, or if either is not given.

    Energy sensors are left out, because their readings only increase, and their thresholds have other units. An upper
    threshold of 0 means that there is none. A reading that is equal to an upper threshold is beyond it, as in IPMI.
    """
    if sensor.unread is not None or str(sensor.body.get("ReadingType", "")).startswith("Energy"):
        return ""
    status = sensor.body.get("Status")
    if isinstance(status, Mapping) and status.get("State") not in (None, "Enabled"):
        return ""
    reading = sensor.read(name, measured).reading
    if not isinstance(reading, float):
        return ""
    for limit in _limits(sensor, UPPER):
        if reading >= limit > 0:
            return f"{reading:g}, at or above {limit:g}"
    for limit in _limits(sensor, LOWER):
        if reading < limit:
            return f"{reading:g}, below {limit:g}"
    return ""


def _limits(sensor: Resource, names: tuple[str, ...]) -> Iterator[float]:
    readings = (sensor.read(name, measured).reading for name in names)
    yield from (limit for limit in readings if isinstance(limit, float))
