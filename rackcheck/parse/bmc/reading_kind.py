"""What a sensor measures: from its unit, type and ReadingBasis, the direction of its thresholds and its context."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rackcheck.model.fact import Reason, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import measured
from rackcheck.model.regex import regex
from rackcheck.model.resource import Resource, inside
from rackcheck.model.text import Sourced

KINDS: Mapping[str, str] = {
    "temperature": "C",
    "headroom": "C",
    "delta": "C",
    "power": "W",
    "voltage": "V",
    "current": "A",
    "speed": "rpm",
    "humidity": "%",
    "percent": "%",
    "frequency": "Hz",
    "energy": "J",
    "pressure": "Pa",
    "airflow": "CFM",
    "unitless": "",
}
"""Every kind of reading that is collected, with its unit.

A `headroom` is the distance of a temperature from a limit, and decreases as the part gets hotter (ReadingBasis
Headroom). A `delta` is the difference between two temperatures (ReadingBasis Delta).
"""

OTHER = "other"
"""The kind of a sensor with another unit, and of a headroom or difference that is not in degrees."""

LISTED = (*KINDS, OTHER)
"""The kinds that have a list of their sensors."""

_SPELT: Mapping[tuple[str, float], str] = {
    ("temperature", 1): "cel c degc °c degreesc degreescel degreescelsius celsius",
    ("power", 1): "w watt watts",
    ("power", 1e3): "kw",
    ("voltage", 1): "v volt volts",
    ("current", 1): "a amp amps ampere amperes",
    ("speed", 1): "rpm {rev}/min",
    ("percent", 1): "% percent percentage",
    ("frequency", 1): "hz",
    ("frequency", 1e3): "khz",
    ("frequency", 1e6): "mhz",
    ("frequency", 1e9): "ghz",
    ("energy", 1): "j joule joules",
    ("energy", 1e3): "kj",
    ("energy", 3.6e3): "w.h wh",
    ("energy", 3.6e6): "kw.h kwh",
    ("pressure", 1): "pa",
    ("pressure", 1e3): "kpa",
    ("airflow", 1): "cfm [ft_i]3/min [cft_i]/min",
}

UNITS: Mapping[str, tuple[str, float]] = {
    spelling: what for what, spellings in _SPELT.items() for spelling in spellings.split()
}
"""The kind of a sensor by its unit, and the factor to the unit of the kind; in lower case and without blanks.

The standard's units are those of UCUM (Cel, W, kW.h); recorded BMCs also return C, DegreesC, Watts, Volts, Amps,
Percent and Percentage.
"""

TYPES: Mapping[str, tuple[str, float]] = {
    "Temperature": ("temperature", 1),
    "Power": ("power", 1),
    "Voltage": ("voltage", 1),
    "Current": ("current", 1),
    "Rotational": ("speed", 1),
    "Humidity": ("humidity", 1),
    "Percent": ("percent", 1),
    "Frequency": ("frequency", 1),
    "EnergyJoules": ("energy", 1),
    "EnergyWh": ("energy", 3.6e3),
    "EnergykWh": ("energy", 3.6e6),
    "Pressure": ("pressure", 1),
    "PressurePa": ("pressure", 1),
    "PressurekPa": ("pressure", 1e3),
    "AirFlow": ("airflow", 1),
}
"""The kind of a sensor that reports no unit, by its ReadingType, whose unit the schema Sensor fixes."""

OLDER = tuple(
    f"{side}Threshold{name}" for side in ("Upper", "Lower") for name in ("NonCritical", "Critical", "Fatal", "User")
)
"""The thresholds of a sensor in the older Thermal resource (DMTF's schema Thermal)."""

MOST = 256
"""Maximum number of thresholds, and of related items, that are read of one sensor."""

BASES: Mapping[str, str] = {"Zero": "zero", "Delta": "delta", "Headroom": "headroom"}

DISTANCE = regex(r"margin|headroom|t[_ -]?limit|approach|superheat|subcool", re.IGNORECASE)
"""Matches names of sensors that may report a distance from a limit, or a difference between two liquids.

The approach of a heat exchanger is how much warmer the liquid leaves it than the other liquid enters it.
"""

SILICON = frozenset({"CPU", "GPU", "Accelerator", "FPGA", "ASIC"})
"""Values of PhysicalContext of parts that limit themselves by their temperature, and so may report a headroom."""


@dataclass(frozen=True)
class Quantity:
    """The physical quantity of a sensor, whatever its reference point is: `word` is one of KINDS, `other` or unknown.

    The reading times `factor` is in the unit of KINDS.
    """

    word: Sourced
    factor: float = 1.0


def quantity(sensor: Resource) -> Quantity:
    """Return the quantity of a sensor.

    Except for humidity, it is taken from the unit, not from ReadingType: one recorded BMC returns the ReadingType
    Current for a sensor in watts, and AirFlow for a fan. An empty unit does not replace the type: it marks a flag.
    """
    unit, type_ = sensor.read("ReadingUnits"), sensor.read("ReadingType")
    if isinstance(unit.reading, Unknown):
        if not isinstance(type_.reading, Unknown):
            word, factor = TYPES.get(str(type_.reading), (OTHER, 1.0))
            return Quantity(Sourced(word, type_.source), factor)
        if is_flag(sensor):
            return Quantity(Sourced("unitless", unit.source))
        return Quantity(type_)
    word, factor = UNITS.get("".join(str(unit.reading).casefold().split()), (OTHER, 1.0))
    if word == "percent" and type_.reading == "Humidity":
        return Quantity(Sourced("humidity", type_.source), factor)
    return Quantity(Sourced(word, unit.source), factor)


def is_flag(sensor: Resource) -> bool:
    """Return whether the unit of a sensor is an empty text: its reading is a flag or a count, whatever its type is."""
    unit = sensor.body.get("ReadingUnits")
    return isinstance(unit, str) and not unit.strip()


def kind(sensor: Resource) -> Sourced:
    """Return what a sensor measures, one of KINDS or `other`; unknown if that cannot be decided."""
    what = quantity(sensor).word
    if isinstance(what.reading, Unknown) or what.reading in (OTHER, "unitless"):
        return what
    return based(what, basis(sensor, thermal=what.reading == "temperature"))


def celsius(entry: Resource) -> Sourced:
    """Return what an entry in degrees measures that has neither unit nor type: `temperature`, `headroom` or `delta`."""
    return based(Sourced("temperature", entry.uri), basis(entry, thermal=True))


def based(what: Sourced, reference: Sourced) -> Sourced:
    """Combine a quantity with the reference point of its readings."""
    if reference.reading == "zero":
        return what
    if isinstance(reference.reading, Unknown) or what.reading == "temperature":
        return reference
    return Sourced(OTHER, reference.source)


def basis(sensor: Resource, *, thermal: bool) -> Sourced:
    """Return the reference point of a sensor's readings: `zero`, `delta` or `headroom`; unknown if undecided.

    ReadingBasis decides if the BMC returns it. It is missing from sensors of older BMCs, whose headroom has only lower
    thresholds: the closer the part is to its limit, the lower is the reading. A missing ReadingBasis otherwise means
    Zero (schema Sensor).
    """
    source = inside(sensor.uri, "ReadingBasis")
    given = sensor.body.get("ReadingBasis")
    if given is not None:
        word = BASES.get(given) if isinstance(given, str) else None
        odd = Unknown(Reason.UNPARSABLE, f"ReadingBasis is {clean(repr(given), 60)}")
        return Sourced(odd if word is None else word, source)
    null = "ReadingBasis" in sensor.body
    if not thermal:
        return Sourced("zero", sensor.uri)
    return _by_thresholds(sensor, source, null=null, thermal=thermal)


def _by_thresholds(sensor: Resource, source: str, *, null: bool, thermal: bool) -> Sourced:
    place = inside(sensor.uri, "Thresholds") if "Thresholds" in sensor.body else sensor.uri
    try:
        limits = dict(_limits(sensor))
    except Unreadable as error:
        return Sourced(Unknown(error.reason, f"Thresholds {error}"), place)
    uppers = {name: limit for name, limit in limits.items() if name.startswith("Upper")}
    lowers = [limit for name, limit in limits.items() if name.startswith("Lower") and limit is not None]
    if any(limit is not None and limit > 0 for limit in uppers.values()):
        return Sourced("zero", place)
    if any(limit is not None and limit < 0 for limit in uppers.values()):
        return _undecided("its upper thresholds are below zero", place)
    unset = bool(uppers) and not any(lowers)  # thresholds that are not set are 0 or null
    if lowers and thermal and not unset:
        if not uppers and is_silicon(sensor) and any(lowers):
            return Sourced("headroom", place)
        return _undecided("it has only lower thresholds", place)
    if null:
        return _undecided("ReadingBasis is null", source)
    if thermal and is_silicon(sensor) and _below_zero(sensor):
        return _undecided("the reading of a chip is below zero", sensor.uri)
    if thermal and (name := _distance(sensor)):
        return _undecided(f"its name is {clean(repr(name), 60)}", sensor.uri)
    return Sourced("zero", place)


def _distance(sensor: Resource) -> str | None:
    """Return the name of a sensor whose name denotes a distance from a limit; names only raise a doubt."""
    names = (sensor.body.get(name) for name in ("Name", "DeviceName", "Id", "MemberId"))
    return next((name for name in names if isinstance(name, str) and DISTANCE.search(name)), None)


def _undecided(why: str, source: str) -> Sourced:
    doubt = f"whether the reading counts from zero, or is a distance from a limit, is unknown: {why}"
    return Sourced(Unknown(Reason.NOT_COLLECTED, doubt), source)


def _limits(sensor: Resource) -> Iterator[tuple[str, float | None]]:
    """Yield the name and value of every threshold in a body: of Sensor, or of the older Thermal resource.

    A threshold without a number is None. Raises Unreadable if `Thresholds` is invalid, or has more than `MOST` entries:
    thousands of excerpts may name one sensor.
    """
    rows = sensor.body.get("Thresholds", {})
    if rows is not None and not isinstance(rows, Mapping):
        raise Unreadable(f"is not an object: {clean(repr(rows), 60)}")
    if rows and len(rows) > MOST:
        raise Unreadable(f"has {len(rows)} entries; the maximum is {MOST}", Reason.TOO_LARGE)
    for name, row in (rows or {}).items():
        yield name, _number(row.get("Reading") if isinstance(row, Mapping) else None)
    for name in OLDER:
        if name in sensor.body:
            yield name, _number(sensor.body[name])


def _number(value: object) -> float | None:
    try:
        return measured(value)
    except Unreadable:
        return None


def _below_zero(sensor: Resource) -> bool:
    reading = _number(sensor.body.get("Reading", sensor.body.get("ReadingCelsius")))
    return reading is not None and reading < 0


def is_silicon(sensor: Resource) -> bool:
    """Return whether a sensor belongs to a chip, by its PhysicalContext, or else by a processor in its RelatedItem."""
    context = sensor.body.get("PhysicalContext")
    if context is not None:
        return isinstance(context, str) and context in SILICON
    return any("/Processors/" in uri for uri in related(sensor))


def related(sensor: Resource) -> frozenset[str]:
    """Return the first `MOST` URIs in a sensor's RelatedItem, without slashes at their ends."""
    items = sensor.body.get("RelatedItem")
    rows = items[:MOST] if isinstance(items, list) else []
    links = (item.get("@odata.id") for item in rows if isinstance(item, Mapping))
    return frozenset(link.rstrip("/") for link in links if isinstance(link, str))
