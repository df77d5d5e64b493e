"""Sensors of a BMC: their readings and thresholds by kind, and the temperatures of intake and exhaust air."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import amount, measured
from rackcheck.model.resource import Resource, inside
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.chassis import in_chassis
from rackcheck.parse.bmc.excerpt import meaning
from rackcheck.parse.bmc.item import fitted
from rackcheck.parse.bmc.power import drawn
from rackcheck.parse.bmc.reading_kind import BASES, LISTED, OTHER, is_flag, kind, quantity

READERS: Mapping[str, Callable[[object], float]] = {
    **dict.fromkeys(("temperature", "headroom", "delta", "voltage", "current", "percent", "pressure"), measured),
    **dict.fromkeys(("speed", "humidity", "frequency", "energy", "airflow"), amount),
    "power": drawn,
}

THRESHOLDS: Mapping[str, str] = {
    "warning": "UpperCaution",
    "critical": "UpperCritical",
    "upper_fatal": "UpperFatal",
    "lower_warning": "LowerCaution",
    "lower_critical": "LowerCritical",
    "lower_fatal": "LowerFatal",
}
"""The Redfish threshold of each fact about a sensor's limits."""


def above_zero(value: object) -> float:
    """Return a sensor's threshold; raises Unreadable for 0, which BMCs return for a threshold that is not set."""
    number = measured(value)
    if number <= 0:
        raise Unreadable(f"is {number:g}, which marks a threshold that is not set", Reason.NOT_COLLECTED)
    return number


def scaled(sensor: Resource, word: str) -> Callable[[object], int | float | str]:
    """Return the reader of a sensor's reading of the kind `word`, in the unit of KINDS.

    A reading of the kind `other` is a text: the number with the unit as the BMC returns it, because the unit is not
    known, and with the reference point if that is not zero.
    """
    if word == OTHER:
        unit, base = sensor.read("ReadingUnits").reading, str(sensor.body.get("ReadingBasis"))
        own = [clean(unit, 60)] if isinstance(unit, str) else []
        own += [f"({BASES[base].lower()})"] if base in BASES and base != "Zero" else []
        return lambda value: " ".join((f"{measured(value):.15g}", *own))
    return _counted if word == "unitless" else _times(READERS[word], quantity(sensor).factor)


def _times(reader: Callable[[object], float], factor: float) -> Callable[[object], float]:
    return lambda value: reader(value) * factor


def _counted(value: object) -> int:
    number = measured(value)
    if number != int(number):
        raise Unreadable(f"is not a whole number: {number:g}")
    return int(number)


def words(sensor: Resource) -> tuple[str, ...]:
    """Return the kinds under which a sensor is listed, `other` if its unit is not known; empty if it reports none.

    A sensor whose quantity is known, but not whether its reading is a headroom, is listed under its quantity, where its
    value is unknown. A sensor with an empty unit is also listed as `unitless`.
    """
    what = kind(sensor).reading
    if isinstance(what, Unknown):
        what = quantity(sensor).word.reading
    listed = (str(what),) if what in LISTED else ()
    return (*listed, "unitless") if is_flag(sensor) and "unitless" not in listed else listed


def value(sensor: Resource, word: str) -> Sourced:
    """Read a sensor of the kind `word`.

    Unknown if its unit is an empty text, as the sensor then is a flag, and if it is unknown what the sensor measures.
    """
    return of_kind(sensor, word, fitted(sensor, "Reading", scaled(sensor, word)))


def of_kind(sensor: Resource, word: str, given: Sourced) -> Sourced:
    """Return a value of a sensor that is listed under the kind `word`, or why it is unknown."""
    if word in ("unitless", OTHER):
        return given
    if is_flag(sensor):
        return Sourced(Unknown(Reason.NOT_COLLECTED, "its unit is empty: a flag, not a measurement"), sensor.uri)
    what = kind(sensor)
    return what if isinstance(what.reading, Unknown) and not isinstance(given.reading, Absent) else given


def limited(word: str) -> bool:
    """Return whether sensors of a kind have thresholds: energy, which only increases, and other units have none."""
    return word not in ("energy", "unitless", OTHER)


def thresholds(sensor: Resource, word: str) -> Iterator[tuple[str, Sourced]]:
    """Yield the limits of a sensor by fact; absent if the BMC reports no such threshold for it.

    A headroom is critical below its lower thresholds; a 0 among them is a limit, whereas an upper threshold of 0 is one
    that is not set.
    """
    factor = quantity(sensor).factor
    for fact, name in THRESHOLDS.items() if limited(word) else ():
        rows = sensor.body.get("Thresholds", {})
        place = inside(sensor.uri, "Thresholds", name)
        row = rows.get(name, {}) if isinstance(rows, Mapping) else None
        if isinstance(rows, Mapping) and isinstance(row, Mapping) and "Reading" not in row and sensor.unread is None:
            yield fact, Sourced(Absent(f"the BMC reports no {name} for it"), place)
            continue
        reader = above_zero if name.startswith("Upper") and word != "voltage" else measured
        yield fact, fitted(sensor, f"Thresholds.{name}.Reading", _times(reader, factor))


def degrees(docs: Documents, entry: Resource) -> Iterator[tuple[str, Sourced]]:
    """Yield the `kind` of an entry in a list of temperatures, and its `temperature` and `headroom`.

    The one that the entry does not measure is absent; both are unknown if its kind is unknown.
    """
    what = meaning(docs, entry)
    word = what.reading if isinstance(what.reading, Unknown) or what.reading in DEGREES else OTHER
    yield "kind", Sourced(word, what.source)
    sourced = celsius_of(entry)
    for fact in DEGREES[:2]:
        if isinstance(sourced.reading, Absent) or word == fact:
            yield fact, sourced
        elif isinstance(word, Unknown):
            yield fact, Sourced(word, what.source)
        else:
            yield fact, Sourced(Absent(f"the sensor measures another kind of reading: {what.reading}"), what.source)


DEGREES = ("temperature", "headroom", "delta")


def celsius_of(entry: Resource) -> Sourced:
    """Read an entry in a list of temperatures: of the newer schema, or of the older one."""
    return fitted(entry, "Reading" if "Reading" in entry.body else "ReadingCelsius", measured)


def meanings(docs: Documents) -> None:
    """Fetch the sensors that the entries in the lists of temperatures are copied from."""
    for entry in in_chassis(docs, *TEMPERATURES)[0]:
        meaning(docs, entry)


TEMPERATURES = (("Thermal", "Temperatures"), ("ThermalSubsystem/ThermalMetrics", "TemperatureReadingsCelsius"))
"""The resources below a chassis that list temperatures, each with the name of the array that lists them."""


def sorted_by_kind(
    sensors: Sequence[tuple[str, Resource]],
) -> tuple[dict[str, list[tuple[str, Resource]]], Unknown | None]:
    """Group sensors by kind, and return why the groups may be incomplete.

    Every group may be incomplete if the quantity of a sensor is unknown, because this sensor may belong to any group.
    """
    found: dict[str, list[tuple[str, Resource]]] = {what: [] for what in LISTED}
    mute: list[str] = []
    for key, sensor in sensors:
        for word in words(sensor):
            found[word].append((key, sensor))
        if isinstance(quantity(sensor).word.reading, Unknown):
            mute.append(key)
    if not mute:
        return found, None
    return found, Unknown(
        Reason.NOT_COLLECTED, f"{len(mute)} sensors do not report what they measure: {clean(mute[0])}"
    )
