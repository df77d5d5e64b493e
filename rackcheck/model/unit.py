"""The table of all valid units. `GB/s` and `Gb/s` are different data rates: 1 GB/s is 8 Gb/s."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from rackcheck.model.regex import regex

# unit -> (dimension, factor to the dimension's first unit). SI and IEC prefixes as the field uses them:
# k M G T P are powers of 1000, Ki Mi Gi Ti Pi of 1024. Bytes, transfers, floating point and integer operations,
# packets, requests and events per second are different dimensions: none can be converted into another.
_TABLE: dict[str, tuple[str, float]] = {
    "B": ("size", 1), "kB": ("size", 1e3), "MB": ("size", 1e6), "GB": ("size", 1e9), "TB": ("size", 1e12),
    "PB": ("size", 1e15),
    "KiB": ("size", 2.0**10), "MiB": ("size", 2.0**20), "GiB": ("size", 2.0**30), "TiB": ("size", 2.0**40),
    "PiB": ("size", 2.0**50),
    "b/s": ("data rate", 1), "kb/s": ("data rate", 1e3), "Mb/s": ("data rate", 1e6), "Gb/s": ("data rate", 1e9),
    "Tb/s": ("data rate", 1e12),
    "B/s": ("data rate", 8), "kB/s": ("data rate", 8e3), "MB/s": ("data rate", 8e6), "GB/s": ("data rate", 8e9),
    "TB/s": ("data rate", 8e12),
    "KiB/s": ("data rate", 8 * 2.0**10), "MiB/s": ("data rate", 8 * 2.0**20), "GiB/s": ("data rate", 8 * 2.0**30),
    "TiB/s": ("data rate", 8 * 2.0**40),
    "GT/s": ("transfer rate", 1e9), "MT/s": ("transfer rate", 1e6),
    "FLOP/s": ("floating point rate", 1), "kFLOP/s": ("floating point rate", 1e3),
    "MFLOP/s": ("floating point rate", 1e6), "GFLOP/s": ("floating point rate", 1e9),
    "TFLOP/s": ("floating point rate", 1e12), "PFLOP/s": ("floating point rate", 1e15),
    "OP/s": ("integer rate", 1), "kOP/s": ("integer rate", 1e3), "MOP/s": ("integer rate", 1e6),
    "GOP/s": ("integer rate", 1e9), "TOP/s": ("integer rate", 1e12), "POP/s": ("integer rate", 1e15),
    "IOPS": ("storage rate", 1), "kIOPS": ("storage rate", 1e3), "MIOPS": ("storage rate", 1e6),
    "p/s": ("packet rate", 1), "kp/s": ("packet rate", 1e3), "Mp/s": ("packet rate", 1e6),
    "/s": ("event rate", 1), "/min": ("event rate", 1 / 60), "/h": ("event rate", 1 / 3600),
    "W": ("power", 1), "mW": ("power", 1e-3), "kW": ("power", 1e3),
    "J": ("energy", 1), "kJ": ("energy", 1e3),
    "Hz": ("frequency", 1), "kHz": ("frequency", 1e3), "MHz": ("frequency", 1e6), "GHz": ("frequency", 1e9),
    "s": ("time", 1), "ms": ("time", 1e-3), "us": ("time", 1e-6), "ns": ("time", 1e-9), "min": ("time", 60),
    "h": ("time", 3600),
    "Pa": ("pressure", 1), "kPa": ("pressure", 1e3), "CFM": ("air flow", 1),
    "K/W": ("thermal resistance", 1), "FLOP": ("work", 1), "kFLOP": ("work", 1e3),
    "C": ("temperature", 1), "V": ("voltage", 1), "mV": ("voltage", 1e-3), "A": ("current", 1),
    "mA": ("current", 1e-3), "dB": ("level", 1), "rpm": ("rotation", 1), "%": ("share", 1), "ppm": ("share", 1e-4),
}  # fmt: skip

PLAUSIBLE: dict[str, tuple[float, float]] = {"C": (-60, 200), "rpm": (0, 100_000), "W": (0, 10_000_000)}
"""Lowest and highest measured value of a unit that is believed; a value outside comes from a sensor that is broken.

Silicon and its board fail far inside these bounds, and a fan spins at less than half of the highest value; the bounds
are our choice, and make a measurement unknown, never a failure.
"""

ALL_ONES = 65535.0
"""The value of a 16-bit register of all ones, which a device returns that does not answer; no power and no speed."""

UNITS = tuple(_TABLE)
"""Every unit that a profile may contain."""

_QUANTITY = regex(r"(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(?P<unit>.*)\Z", re.DOTALL)


class BadUnit(ValueError):
    """A quantity without a unit, with an unknown unit, or of another dimension."""


def dimension(unit: str) -> str:
    """Return the dimension of a unit of the table: `data rate` for `GB/s`."""
    return _TABLE[unit][0]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and the unit it was written in."""

    number: float
    unit: str

    def to(self, unit: str) -> float:
        """Return the number in another unit of the same dimension."""
        mine, theirs = _TABLE[self.unit], _TABLE[unit]
        if mine[0] != theirs[0]:
            raise BadUnit(f"{self.unit} is {_a(mine[0])}; {_a(theirs[0])} in {unit} is expected")
        if self.unit == unit:
            return self.number
        number = self.number * mine[1] / theirs[1]
        if not isfinite(number) and isfinite(self.number):  # infinity means "unlimited", which the user did not write
            raise BadUnit(f"{self.number:g} {self.unit} is more than any machine has")
        return number


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeio' else 'a'} {noun}"


def parse(text: str) -> Quantity:
    """Parse `700 W`; a bare number or an unknown unit raises BadUnit, which suggests likely units."""
    match = _QUANTITY.match(text.strip())
    if match is None:
        raise BadUnit(f"not a number with a unit: {_shown(text)}")
    unit = match["unit"].strip()
    if not unit:
        raise BadUnit(f"{_shown(text)} has no unit")
    if unit not in _TABLE:
        near = meant(unit, UNITS)
        raise BadUnit(f"{_shown(unit)} is not a known unit{f' (did you mean {near}?)' if near else ''}")
    number = float(match["number"])
    if not isfinite(number):
        raise BadUnit(f"{_shown(text)} is more than any machine has")
    return Quantity(number, unit)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")


def exact(number: float, unit: str) -> str:
    """Format a quantity with all its digits if `spell` omits some; otherwise return an empty text."""
    if number == float("inf"):
        return ""
    shown, _ = _figures(number, unit)
    size = number * 1024 if unit == "GiB" and abs(number) < 1 else number
    return "" if float(shown) == size else f"{number!r} {unit}"


def spell(number: float, unit: str) -> str:
    """Format a quantity for users, rounded to six digits or to a whole number: `1.5 TiB`, `700 W`."""
    if number == float("inf"):
        return "unlimited"
    text, shown = _figures(number, unit)
    return f"{text}{'' if shown.startswith('/') else ' '}{shown}"


def _figures(number: float, unit: str) -> tuple[str, str]:
    if unit == "GiB" and abs(number) < 1:
        number, unit = number * 1024, "MiB"
    return f"{number:.6g}" if abs(number) < 1e6 else f"{number:.0f}", unit


# ---- suggestions for unknown units -----------------------------------------------------------------------------------

_LONGEST = 40
"""Maximum number of characters that are read of an unknown unit."""

_WORDS = {
    "percent": "%", "pct": "%",
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "usec": "us", "nsec": "ns",
    "mins": "min", "minute": "min", "minutes": "min", "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
    "watt": "W", "watts": "W", "volt": "V", "volts": "V", "amp": "A", "amps": "A", "joule": "J", "joules": "J",
    "celsius": "C", "cel": "C", "byte": "B", "bytes": "B", "io/s": "IOPS",
    "kb": "kB or KiB", "kb/s": "kb/s, kB/s or KiB/s",
}  # fmt: skip
"""The unit of each other spelling, in lower case; `kb` and `kb/s` are ambiguous and have several units."""

_SPELLINGS = tuple(
    (regex(pattern), unit)
    for pattern, unit in (
        ("[µμ]", "u"),
        ("°|º|^deg(rees?)? ?", ""),
        (r"/(second|sec)s?\b", "/s"),
        (r"/(minute|mins)\b", "/min"),
        (r"/(hour|hr)s?\b", "/h"),
        (r"^(?i:kilo)", "k"),
        (r"^(?i:mega)", "M"),
        (r"^(?i:giga)", "G"),
        (r"^(?i:tera)", "T"),
        (r"[Bb]its?/s$|bps$", "b/s"),
        (r"[Bb]ytes?/s$|Bps$", "B/s"),
        (r"[Bb]ytes?$", "B"),
        (r"(?i:flops?(/s)?)$", "FLOP/s"),
        (r"^([kMGTP]?)OPS$", r"\1OP/s"),
        (r"pps$|(packets?|pkts?)/s$", "p/s"),
        (r"^(1|counts?|errors?|events?)/", "/"),
    )
)
"""Patterns of other spellings with their replacements, which are applied one after the other."""


def meant(text: str, units: Sequence[str]) -> str:
    """Return the likely unit or units, such as `Gb/s` or `GB/s or Gb/s`; an empty text if there are none."""
    words = text[:_LONGEST].split()
    for spelt in (" ".join(words), words[0] if words else ""):
        found = _meant(spelt.rstrip("."), units)
        if found:
            return found
    return ""


def _meant(text: str, units: Sequence[str]) -> str:
    word = _WORDS.get(text.casefold())
    if word is not None and text not in units and not text.startswith("k"):
        return word
    for pattern, unit in _SPELLINGS:
        text = pattern.sub(unit, text)
    if text in units:
        return text
    # An upper-case M (mega) is not a typing error for m (milli): for MW, mW is not suggested.
    alike = [u for u in units if u.casefold() == text.casefold() and (text[0], u[0]) != ("M", "m")]
    if alike:
        return " or ".join(alike)
    near = difflib.get_close_matches(text, [u for u in units if len(u) > 2], n=1, cutoff=0.75)
    return near[0] if near else ""
