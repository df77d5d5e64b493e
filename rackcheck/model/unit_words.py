"""What may have been meant by a unit that is none of the table: `Gbps`, `TFLOPS`, `°C`, `RPM`."""

import difflib
import re
from collections.abc import Sequence

_LONGEST = 40
"""Characters of a unit that are looked at."""

_WORDS = {
    "percent": "%", "pct": "%",
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "usec": "us", "nsec": "ns",
    "mins": "min", "minute": "min", "minutes": "min", "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
    "watt": "W", "watts": "W", "volt": "V", "volts": "V", "amp": "A", "amps": "A", "joule": "J", "joules": "J",
    "celsius": "C", "cel": "C", "byte": "B", "bytes": "B", "io/s": "IOPS",
    "kb": "kB or KiB", "kb/s": "kb/s, kB/s or KiB/s",
}  # fmt: skip
"""Units in words, in small letters, and the two that the field writes for three things."""

_SPELLINGS = tuple(
    (re.compile(pattern), unit)
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
"""Other spellings, put into ours one after the other."""


def meant(text: str, units: Sequence[str]) -> str:
    """Name the unit or units that somebody may have meant, `Gb/s` or `GB/s or Gb/s`; an empty text if none."""
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
    # Mega is no slip for milli: who writes MW is not told of mW.
    alike = [u for u in units if u.casefold() == text.casefold() and (text[0], u[0]) != ("M", "m")]
    if alike:
        return " or ".join(alike)
    near = difflib.get_close_matches(text, [u for u in units if len(u) > 2], n=1, cutoff=0.75)
    return near[0] if near else ""
