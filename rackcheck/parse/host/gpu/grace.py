"""The temperature and power sensors of NVIDIA's Grace CPUs, identified by the names that firmware gives them."""

from collections.abc import Mapping, Sequence

from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.model.regex import regex
from rackcheck.model.text.values import whole

_NAME = regex("is (?:Thermal Zone Skt([0-9]{1,3}) TJMax|(CPU|SysIO|Module|Grace) Power Socket ([0-9]{1,3}))")

ZONE = "zone"
"""Dictionary key of a socket's thermal zone; the keys of its power meters are CPU, SysIO, Module and Grace."""

Sensor = Mapping[str, str]
"""Contents of one sensor's files, by the file's name."""


def sockets(rows: Sequence[str]) -> Mapping[str, Mapping[str, Sensor]]:
    """Return the sensors by socket number and then by name, from rows `is NAME`, each followed by rows `FILE TEXT`.

    A sensor whose name is not one of Grace's sensors is left out, with its files.
    """
    found: dict[str, dict[str, dict[str, str]]] = {}
    values: dict[str, str] = {}
    for row in rows:
        name, _, value = row.partition(" ")
        if name == "is":
            match = _NAME.fullmatch(row)
            values = {}
            if match is not None:
                found.setdefault(match[1] or match[3], {})[match[2] or ZONE] = values
        else:
            values[name] = value
    return found


def celsius(text: str) -> float:
    """Convert thousandths of a degree to degrees; raises Unreadable if the text is not a whole number."""
    return whole(text) / 1000


def trip(zone: Sensor, kind: str) -> float | Absent:
    """Return the temperature of a zone's `passive` or `critical` trip point in degrees C; absent without such a point.

    Raises Unreadable if the temperature is not a whole number.
    """
    found = next((zone.get(f"trip_point_{n}_temp") for n in "01" if zone.get(f"trip_point_{n}_type") == kind), None)
    return Absent(f"no {kind} trip point") if found is None else celsius(found)


def watts(meter: Sensor | None, name: str) -> Reading:
    """Return one value of a power meter in W; absent if there is no meter, and for a power limit that the meter lacks.

    If the meter exists but does not report a value other than the power limit, this value is unknown. Raises Unreadable
    if a value is not a whole number.
    """
    if meter is None:
        return Absent("no such power meter")
    if name in meter:
        return whole(meter[name]) / 1e6
    return (
        Absent("the power meter has no limit")
        if name == "power1_cap"
        else Unknown(Reason.NOT_COLLECTED, f"{name} has no value")
    )
