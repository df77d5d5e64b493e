"""The closed table of units. `GB/s` is not `Gb/s`; both are data rates and convert by eight."""

import re
from dataclasses import dataclass
from math import isfinite

# unit -> (dimension, factor to the dimension's first unit). SI and IEC prefixes as the field uses them:
# k M G T are powers of 1000, Ki Mi Gi Ti of 1024.
_TABLE: dict[str, tuple[str, float]] = {
    "B": ("size", 1), "kB": ("size", 1e3), "MB": ("size", 1e6), "GB": ("size", 1e9), "TB": ("size", 1e12),
    "KiB": ("size", 2.0**10), "MiB": ("size", 2.0**20), "GiB": ("size", 2.0**30), "TiB": ("size", 2.0**40),
    "b/s": ("data rate", 1), "Mb/s": ("data rate", 1e6), "Gb/s": ("data rate", 1e9), "Tb/s": ("data rate", 1e12),
    "B/s": ("data rate", 8), "MB/s": ("data rate", 8e6), "GB/s": ("data rate", 8e9), "TB/s": ("data rate", 8e12),
    "GT/s": ("transfer rate", 1e9), "MT/s": ("transfer rate", 1e6),
    "FLOP/s": ("floating point rate", 1), "GFLOP/s": ("floating point rate", 1e9),
    "TFLOP/s": ("floating point rate", 1e12), "PFLOP/s": ("floating point rate", 1e15),
    "W": ("power", 1), "mW": ("power", 1e-3), "kW": ("power", 1e3),
    "Hz": ("frequency", 1), "kHz": ("frequency", 1e3), "MHz": ("frequency", 1e6), "GHz": ("frequency", 1e9),
    "s": ("time", 1), "ms": ("time", 1e-3), "us": ("time", 1e-6), "ns": ("time", 1e-9), "min": ("time", 60),
    "h": ("time", 3600),
    "C": ("temperature", 1), "V": ("voltage", 1), "A": ("current", 1), "J": ("energy", 1),
    "rpm": ("rotation", 1), "%": ("share", 1),
}  # fmt: skip

UNITS = tuple(_TABLE)
"""Every unit a profile may write."""

_QUANTITY = re.compile(r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>.*)\Z")


class BadUnit(ValueError):
    """A quantity without a unit, with an unknown one, or of another dimension."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and the unit it was written in."""

    number: float
    unit: str

    def to(self, unit: str) -> float:
        """The number in another unit of the same dimension."""
        mine, theirs = _TABLE[self.unit], _TABLE[unit]
        if mine[0] != theirs[0]:
            raise BadUnit(f"{self.unit} is a {mine[0]}; a {theirs[0]} in {unit} is wanted")
        return self.number if self.unit == unit else self.number * mine[1] / theirs[1]


def parse(text: str) -> Quantity:
    """Read `700 W`; a bare number or an unknown unit raises BadUnit."""
    match = _QUANTITY.match(text.strip())
    if match is None:
        raise BadUnit(f"not a number with a unit: {text!r}")
    unit = match["unit"].strip()
    if not unit:
        raise BadUnit(f"{text!r} has no unit")
    if unit not in _TABLE:
        raise BadUnit(f"{unit!r} is no unit of the table")
    number = float(match["number"])
    if not isfinite(number):
        raise BadUnit(f"{text!r} is more than any machine has")
    return Quantity(number, unit)


def exact(number: float, unit: str) -> str:
    """Write a quantity with all its digits, where `spell` leaves some out; else nothing."""
    if number == float("inf"):
        return ""
    shown = spell(number, unit).split(" ")[0]
    size = number * 1024 if unit == "GiB" and abs(number) < 1 else number
    return "" if float(shown) == size else f"{number!r} {unit}"


def spell(number: float, unit: str) -> str:
    """Write a quantity for people: `1.5 TiB`, `700 W`, never more digits than were measured."""
    if number == float("inf"):
        return "unlimited"
    if unit == "GiB" and abs(number) < 1:
        number, unit = number * 1024, "MiB"
    text = f"{number:.6g}" if abs(number) < 1e6 else f"{number:.0f}"
    return f"{text} {unit}"
