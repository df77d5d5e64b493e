"""Sensors of a BMC: their kinds and readings, and the temperatures of intake and exhaust air."""

from collections.abc import Callable, Mapping, Sequence

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import amount, measured
from rackcheck.model.resource import Resource
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.item import chassis, fitted, gather, in_chassis, not_there
from rackcheck.parse.bmc.power import drawn

UNITS: Mapping[str, str] = {
    "cel": "temperature",
    "c": "temperature",
    "w": "power",
    "watt": "power",
    "watts": "power",
    "v": "voltage",
    "volts": "voltage",
    "a": "current",
    "amps": "current",
    "rpm": "speed",
}
"""The kind of a sensor by its unit, in lower case; Lenovo's XCC reports C and Watts, the standard has Cel and W."""

TYPES: Mapping[str, str] = {
    "Temperature": "temperature",
    "Power": "power",
    "Voltage": "voltage",
    "Current": "current",
    "Rotational": "speed",
    "Humidity": "humidity",
}
"""The kind of a sensor that reports no unit, by its ReadingType."""

READERS: Mapping[str, Callable[[object], float]] = {
    "temperature": measured,
    "power": drawn,
    "voltage": measured,
    "current": measured,
    "speed": amount,
    "humidity": amount,
}


def figure(value: object) -> str:
    """Return a number as text, for a reading or a threshold whose unit differs from sensor to sensor."""
    number = measured(value)
    return f"{int(number)}" if number == int(number) else repr(number)


def above_zero(value: object) -> float:
    """Return a sensor's threshold; raises Unreadable for 0, which BMCs return for a threshold that is not set."""
    number = measured(value)
    if number <= 0:
        raise Unreadable(f"is {number:g}, which marks a threshold that is not set", Reason.NOT_COLLECTED)
    return number


def kind(sensor: Resource) -> Sourced:
    """Return what a sensor measures; `other` for kinds that are not collected (a share, a frequency, an energy).

    Except for humidity, the kind of a sensor that has a unit is taken from the unit, not from ReadingType: one recorded
    BMC returns the ReadingType Current for a sensor in watts, and AirFlow for a fan.
    """
    unit, kind_ = sensor.read("ReadingUnits"), sensor.read("ReadingType")
    if isinstance(unit.reading, Unknown):
        if isinstance(kind_.reading, Unknown):
            return kind_
        return Sourced(TYPES.get(str(kind_.reading), "other"), kind_.source)
    if unit.reading == "%" and kind_.reading == "Humidity":
        return Sourced("humidity", kind_.source)
    return Sourced(UNITS.get(str(unit.reading).casefold(), "other"), unit.source)


def value(sensor: Resource, what: str) -> Sourced:
    """Read a sensor of the kind `what`; unknown if its unit is an empty text, as the sensor then is a flag."""
    if sensor.body.get("ReadingUnits") == "":
        return Sourced(Unknown(Reason.NOT_COLLECTED, "its unit is empty: a flag, not a measurement"), sensor.uri)
    return fitted(sensor, "Reading", READERS[what])


def air(docs: Documents, context: str) -> Sourced | Reading:
    """Return the temperature of the intake or exhaust air of a machine; `context` is `Intake` or `Exhaust`.

    The temperature is read from the summary of a chassis, else from the only sensor with this context. The temperature
    is unknown if several summaries or sensors have this context: one recorded BMC returns Intake for all its 120
    sensors.
    """
    places, trouble = chassis(docs)
    rows: list[Sourced] = []
    name = f"TemperatureSummaryCelsius.{context}.Reading"
    for place in places:
        holders, unread = gather(docs.at("ThermalSubsystem/ThermalMetrics", place))
        lost = next((each.unread for each in holders if each.unread is not None and not not_there(each.unread)), None)
        trouble = trouble or unread or lost
        rows += [each.read(name, measured) for each in holders if _has(each, context)]
    if not rows:
        sensors, unread = in_chassis(docs, *TEMPERATURES)
        trouble = trouble or unread
        here = [sensor for sensor in sensors if sensor.read("PhysicalContext").reading == context]
        rows = [fitted(each, "Reading" if "Reading" in each.body else "ReadingCelsius", measured) for each in here]
    if trouble is not None:
        return trouble
    if len(rows) != 1:
        found = f"{len(rows)} sensors report" if rows else "no sensor reports"
        return Unknown(Reason.NOT_COLLECTED, f"{found} the context {context}")
    return rows[0]


TEMPERATURES = (("Thermal", "Temperatures"), ("ThermalSubsystem/ThermalMetrics", "TemperatureReadingsCelsius"))
"""The resources below a chassis that list temperatures, each with the name of the array that lists them."""


def _has(metrics: Resource, context: str) -> bool:
    """Return whether a temperature summary has this context; True if it is null, because the value is then unknown."""
    if "TemperatureSummaryCelsius" not in metrics.body:
        return False
    summary = metrics.body["TemperatureSummaryCelsius"]
    return not isinstance(summary, Mapping) or context in summary


def sorted_by_kind(
    sensors: Sequence[tuple[str, Resource]],
) -> tuple[dict[str, list[tuple[str, Resource]]], Unknown | None]:
    """Group sensors by kind, and return why the groups may be incomplete.

    Every group may be incomplete if a sensor has an unknown kind, because this sensor may belong to any group.
    """
    found: dict[str, list[tuple[str, Resource]]] = {what: [] for what in READERS}
    mute: list[str] = []
    for key, sensor in sensors:
        what = kind(sensor).reading
        if isinstance(what, Unknown):
            mute.append(key)
        elif str(what) in found:
            found[str(what)].append((key, sensor))
    if not mute:
        return found, None
    return found, Unknown(
        Reason.NOT_COLLECTED, f"{len(mute)} sensors do not report what they measure: {clean(mute[0])}"
    )
