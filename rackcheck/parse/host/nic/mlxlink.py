"""The output of mlxlink for a port: its link, its bit errors, and the module or cable in it.

Based on the documentation and on outputs that others published (a BlueField-3 with a copper cable, MFT 4.30; lines of a
ConnectX-7 with an optical module); not verified on our own hardware.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.regex import regex

_COLOURS = regex(r"\x1b\[[0-9;]{0,12}m")
_NONE = {"", "N/A", "None"}
_RATIO = regex(r"[0-9]{1,6}(?:\.[0-9]{1,9})?(?:[eE][+-]?[0-9]{1,3})?")
_DECIMAL = regex(r"-?[0-9]{1,6}(?:\.[0-9]{1,9})?")
_RANGE = regex(r"(.{1,400}?)(?: \[(-?[0-9.]{1,12})\.\.(-?[0-9.]{1,12})\])?")
_RAW = "Raw Physical Errors Per Lane"
ROWS = 500
LANES = 16
Scaling = Callable[[float], float]
"""A function that converts a number from mlxlink's unit to the fact's unit."""


@dataclass(frozen=True)
class MlxlinkPort:
    """The values of one port, by the names that mlxlink prints."""

    values: dict[str, str]

    def text(self, name: str) -> Reading:
        """Return the text that mlxlink prints for `name`; absent if mlxlink prints no text, N/A or None."""
        value = self.values.get(name, "")
        return Absent(f"mlxlink reports no {name}") if value in _NONE else value

    def count(self, name: str) -> Reading:
        """Return the whole number that mlxlink prints for `name`; absent if it prints none, Unknown on other text."""
        value = self.text(name)
        if not isinstance(value, str) or re.fullmatch(r"[0-9]{1,20}", value):
            return int(value) if isinstance(value, str) else value
        return _strange(name, value)

    def counts(self, name: str) -> list[int] | Absent | Unknown:
        """Return the whole numbers in a value such as `3183333,242074`, one number for each lane."""
        value = self.text(name)
        if not isinstance(value, str):
            return value if isinstance(value, Absent | Unknown) else _strange(name, str(value))
        parts = value.split(",", LANES)
        if len(parts) > LANES or not all(re.fullmatch(r"[0-9]{1,20}", part) for part in parts):
            return _strange(name, value)
        return [int(part) for part in parts]

    def share(self, name: str) -> Reading:
        """Return a ratio of errors to bits (`2E-9`) as a percentage."""
        value = self.text(name)
        if not isinstance(value, str) or _RATIO.fullmatch(value):
            return float(value) * 100 if isinstance(value, str) else value
        return _strange(name, value)

    def errors(self) -> list[int] | Unknown:
        """Return the raw bit errors of each lane, before error correction; empty if the link is down."""
        reading = self.counts(_RAW)
        if not isinstance(reading, Absent):
            return reading
        # Only a link that is down has no lanes: for an active link, missing lanes do not mean that there are no errors.
        return Unknown(Reason.NOT_COLLECTED, reading.detail) if self.text("State") == "Active" else []

    def measured(self, name: str, scale: Scaling) -> tuple[Reading, Reading, Reading]:
        """Return a sensor's value and its low and high alarm thresholds, each absent if the module lacks it."""
        values, low, high = self.lanes(name, scale)
        return (values if isinstance(values, Absent | Unknown) else values[0]), low, high

    def lanes(self, name: str, scale: Scaling = float) -> tuple[list[float] | Absent | Unknown, Reading, Reading]:
        """Return the scaled values of all lanes, and the low and high alarm thresholds: `1.886,1.989 [-10.41..6]`."""
        value = self.text(name)
        if not isinstance(value, str):
            reading = value if isinstance(value, Absent | Unknown) else Absent(name)
            return reading, reading, reading
        match = _RANGE.fullmatch(value)
        parts = match[1].split(",") if match is not None else []
        if match is None or len(parts) > LANES or not all(_DECIMAL.fullmatch(part) for part in parts):
            strange = _strange(name, value)
            return strange, strange, strange
        ends = [
            Absent("the module reports no alarms")
            if end is None
            else scale(float(end))
            if _DECIMAL.fullmatch(end)
            else _strange(name, value)
            for end in (match[2], match[3])
        ]
        return [scale(float(part)) for part in parts], ends[0], ends[1]


def _strange(name: str, value: str) -> Unknown:
    return Unknown(Reason.UNPARSABLE, f"{name} {clean(value, 60)!r}")


def milliwatts(dbm: float) -> float:
    """Convert an optical power from dBm to mW; 0 dBm is 1 mW."""
    return float(f"{10 ** (max(-100.0, min(dbm, 100.0)) / 10):.6g}")


def thousandths(value: float) -> float:
    """Convert mV to V, or mA to A."""
    return rounded(value / 1000)


def rounded(value: float) -> float:
    """Round a number to 12 digits, which removes the rounding error of a division."""
    return float(f"{value:.12g}")


def port(text: str) -> MlxlinkPort:
    """Read mlxlink's output for one port; raises Unreadable without `State` or `Physical state` of the link."""
    rows = _COLOURS.sub("", text).splitlines()
    if len(rows) > ROWS:
        raise Unreadable(f"{len(rows)} lines", Reason.TOO_LARGE)
    values: dict[str, str] = {}
    for row in rows:
        name, mark, value = row.partition(":")
        if mark:
            values.setdefault(name.strip(), value.strip())
    if "State" not in values or "Physical state" not in values:
        raise Unreadable(f"no State or no Physical state: {clean(text, 80)!r}")
    return MlxlinkPort(values)
