"""Sensors whose reading is beyond a critical threshold of the sensor itself, or near it, whatever their health is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rackcheck import Class, Documents, Facts, Redfish, collection, probe, spell_key, text
from rackcheck.model.by_part import of_part
from rackcheck.model.fact import Unknown
from rackcheck.model.redfish_value import measured
from rackcheck.model.resource import ROOT, Resource
from rackcheck.parse.bmc.chassis import CHASSIS, at_own, others
from rackcheck.parse.bmc.item import gather, members, named
from rackcheck.parse.bmc.reading_kind import celsius, kind, quantity

LINKS = ("Chassis/*/Thermal", "Chassis/*/Power")
MANY = "Chassis/*/Sensors/*"
LISTS = {"Temperatures": "ReadingCelsius", "Fans": "Reading", "Voltages": "ReadingVolts"}
"""Lists of sensors in Redfish's older Thermal and Power resources, and the property of each that has the reading."""

UPPER = (
    "UpperThresholdCritical",
    "UpperThresholdFatal",
    "Thresholds.UpperCritical.Reading",
    "Thresholds.UpperFatal.Reading",
)
LOWER = (
    "LowerThresholdCritical",
    "LowerThresholdFatal",
    "Thresholds.LowerCritical.Reading",
    "Thresholds.LowerFatal.Reading",
)
CAUTION = ("LowerThresholdNonCritical", "Thresholds.LowerCaution.Reading")

NEAR, NEAR_VOLTS = 0.05, 0.01
"""A reading is near a threshold if it differs by at most this share of the threshold; the second is for voltages.

Our choice: few vendors publish a range that a sensor should stay in.
"""


@probe(
    Redfish(*LINKS, CHASSIS, whole=(MANY,)),
    gives={
        "bmc.beyond": collection("sensors beyond a critical threshold of their own, by path"),
        "bmc.beyond/*.name": text("The sensor's name.", Class.IDENTITY),
        "bmc.beyond/*.reading": text(
            "The reading and the threshold that it is beyond: 2400, below 2436.", Class.MEASUREMENT
        ),
        "bmc.near": collection("sensors near a critical threshold of their own, and not beyond it, by path"),
        "bmc.near/*.name": text("The sensor's name.", Class.IDENTITY),
        "bmc.near/*.reading": text("The reading and the threshold that it is near: 38, near 40.", Class.MEASUREMENT),
    },
)
def bmc_beyond(docs: Documents) -> Facts:
    """List the temperatures, voltages and fan speeds beyond a critical threshold that the BMC returns, or near it."""
    left, doubt = others(docs)
    lost = members(docs, "Chassis")[1] or doubt
    for link in (*LINKS, MANY):
        resources, trouble = at_own(docs, link, left)
        lost = lost or trouble
        for resource in resources:
            lost = lost or resource.unread
            sensors, cut = ([(resource, "Reading")], None) if link == MANY else _listed(resource)
            lost = lost or cut
            for sensor, name in sensors:
                where, words = _compared(sensor, name)
                if where:
                    item = f"bmc.{where}/{spell_key(sensor.uri.removeprefix(f'{ROOT}/'))}"
                    yield f"{item}.name", named(sensor)
                    yield f"{item}.reading", words
    if lost is not None:
        yield from (("bmc.beyond", lost), ("bmc.near", lost))


def _listed(resource: Resource) -> tuple[list[tuple[Resource, str]], Unknown | None]:
    found: list[tuple[Resource, str]] = []
    cut: Unknown | None = None
    for name, reading in LISTS.items():
        parts, trouble = gather(resource.parts(name))
        cut = cut or trouble
        found += [(part, reading) for part in parts]
    return found, cut


def _compared(sensor: Resource, name: str) -> tuple[str, str]:
    """Return `beyond` or `near`, and the reading with the threshold; two empty texts if neither is the case.

    A reading that is equal to an upper threshold is beyond it, as in IPMI. No reading is near a lower threshold of 0,
    such as that of power. A headroom decreases as the part gets hotter: only its lower thresholds are limits, and it is
    near the critical one if it is below the one for caution.
    """
    limits = None if sensor.unread is not None else _limits(sensor.with_signs(name), name)
    reading = None if limits is None else sensor.read(name, measured).reading
    if limits is None or not isinstance(reading, float):
        return "", ""
    lower, upper, caution = limits.lower, limits.upper, limits.caution
    if upper is not None and reading >= upper:
        return "beyond", f"{reading:g}, at or above {upper:g}"
    if lower is not None and reading < lower:
        return "beyond", f"{reading:g}, below {lower:g}"
    if limits.headroom:
        low = lower is not None and caution is not None and reading < caution
        return ("near", f"{reading:g}, below {caution:g} and near {lower:g}") if low else ("", "")
    near = next((limit for limit in (lower, upper) if _near(sensor, name, reading, limit)), None)
    return ("", "") if near is None else ("near", f"{reading:g}, near {near:g}")


@dataclass(frozen=True)
class _Limits:
    """The highest lower threshold of a sensor, its lowest upper one, and its highest one for caution."""

    lower: float | None
    upper: float | None
    caution: float | None
    headroom: bool


@of_part
def _limits(sensor: Resource, name: str) -> _Limits | None:
    """Return the thresholds of a sensor; None if its readings are not compared with them.

    Energy sensors are left out, because their readings only increase, and their thresholds have other units. An upper
    threshold of 0 means that there is none.
    """
    status = sensor.body.get("Status")
    if isinstance(status, Mapping) and status.get("State") not in (None, "Enabled"):
        return None
    if quantity(sensor).word.reading == "energy":
        return None
    headroom = (celsius(sensor) if name == "ReadingCelsius" else kind(sensor)).reading == "headroom"
    upper = None if headroom else min((limit for limit in _known(sensor, UPPER) if limit > 0), default=None)
    lower, caution = (max(_known(sensor, names), default=None) for names in (LOWER, CAUTION))
    return _Limits(lower, upper, caution, headroom)


def _near(sensor: Resource, name: str, reading: float, limit: float | None) -> bool:
    """Return whether a reading that is not beyond a threshold is near it."""
    if limit is None or limit <= 0:
        return False
    type_ = sensor.body.get("ReadingType") if name == "Reading" else None
    volts = name == "ReadingVolts" or type_ == "Voltage"
    share = NEAR_VOLTS if volts else NEAR if type_ in (None, "Temperature", "Rotational") else 0.0
    return abs(reading - limit) <= share * limit


def _known(sensor: Resource, names: tuple[str, ...]) -> Iterator[float]:
    readings = (sensor.read(name, measured).reading for name in names)
    yield from (limit for limit in readings if isinstance(limit, float))
