"""The sensors of NVIDIA's Grace CPUs, by their names in firmware: each name, then its files."""

import re
from collections.abc import Mapping, Sequence

from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.model.text.values import whole

_NAME = re.compile("is (?:Thermal Zone Skt([0-9]{1,3}) TJMax|(CPU|SysIO|Module|Grace) Power Socket ([0-9]{1,3}))")

ZONE = "zone"
"""Name of the thermal zone among a socket's sensors; the other sensors are meters: CPU, SysIO, Module, Grace."""

Sensor = Mapping[str, str]
"""Contents of one sensor's files, by the file's name."""


def sockets(rows: Sequence[str]) -> Mapping[str, Mapping[str, Sensor]]:
    """Read rows `is NAME` and, below each, `FILE TEXT`; returns the sensors by the number of their socket and by name.

    A sensor with another name is left out, with its files.
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
    """Return the temperature in degrees Celsius of the zone's trip point of a kind (`passive`, `critical`).

    Raises Unreadable if it is not a whole number.
    """
    found = next((zone.get(f"trip_point_{n}_temp") for n in "01" if zone.get(f"trip_point_{n}_type") == kind), None)
    return Absent(f"no {kind} trip point") if found is None else celsius(found)


def watts(meter: Sensor | None, name: str) -> Reading:
    """Return one value of a meter in W; absent without the meter or a limit, unknown if the meter reports no power.

    Raises Unreadable if it is not a whole number.
    """
    if meter is None:
        return Absent("no such meter")
    if name in meter:
        return whole(meter[name]) / 1e6
    return Absent("no limit") if name == "power1_cap" else Unknown(Reason.NOT_COLLECTED, f"{name} has no value")
