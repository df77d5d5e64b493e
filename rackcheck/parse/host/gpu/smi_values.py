"""Convert texts of `nvidia-smi -q -x` to the values that NVML returns, or to the reason why there is no value.

nvidia-smi prints NVML's values as texts with units. The functions of this module convert the texts back, so that
nvidia-smi and NVML give the same values: bytes, milliwatts, nanoseconds, 0 and 1. A result is `{"value": ...}`,
`{"absent": detail}` or `{"unknown": reason, "detail": detail}`, where the reason is a value of the enum `Reason`.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from rackcheck.model.fact import Reason, Unreadable, clean

SmiGpu = dict[str, Any]
Convert = Callable[[str], int | str]

_ABSENT = frozenset({"N/A", "Not Supported"})
_REFUSALS = {
    "Insufficient Permissions": Reason.DENIED,
    "Timeout": Reason.TIMEOUT,
    "Driver Not Loaded": Reason.TOOL_MISSING,
    "NVML Shared Library Not Found": Reason.TOOL_MISSING,
    "Function Not Found": Reason.NOT_COLLECTED,
    "RM has detected an NVML/RM version mismatch.": Reason.NOT_READY,
    "Driver/library version mismatch": Reason.NOT_READY,
    **dict.fromkeys(
        (
            "Requested functionality has been deprecated", "GPU is lost", "GPU requires reset", "GPU requires restart",
            "Unknown Error", "Unknown", "ERR!", "Uninitialized", "Invalid Argument", "Already Initialized", "Not Found",
            "Insufficient Size", "Insufficient External Power", "Interrupt Request Issue", "Corrupted infoROM",
            "The operating system has blocked the request.", "Insufficient Memory", "Insufficient Resources",
        ),
        Reason.NOT_COLLECTED,
    ),
}  # fmt: skip
"""Error texts that nvidia-smi prints instead of a value, and their reasons; from nvidia-ml-py and recorded outputs."""


def unknown(reason: Reason, detail: str) -> SmiGpu:
    """Return the result for a value that is unknown, with the reason why."""
    return {"unknown": reason.value, "detail": f"nvidia-smi: {clean(detail)}"}


def refusal(text: str) -> SmiGpu | None:
    """Return the result for `N/A` or an error text (`[Unknown Error]`, `GPU is lost`); None if the text is a value."""
    word = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
    if word in _ABSENT:
        return {"absent": f"nvidia-smi: {word}"}
    return unknown(_REFUSALS[word], word) if word in _REFUSALS else None


def converted(text: str, convert: Convert) -> SmiGpu:
    """Return the value that `convert` reads from a text, or the reason why the text has no value."""
    if instead := refusal(text):
        return instead
    try:
        return {"value": convert(text)}
    except Unreadable as error:
        return unknown(error.reason, str(error))


def total(*parts: SmiGpu | None) -> SmiGpu | None:
    """Add up several values; an absent value counts as 0, an unknown value makes the sum unknown.

    The sum is absent if all values are absent, and None if `parts` is empty or nvidia-smi does not print one of them.
    """
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not known:
        return None
    values = [part["value"] for part in known if "value" in part]
    gap = next((part for part in known if "unknown" in part), None)
    return gap or ({"value": sum(values)} if values else known[0])


def number(unit: str = "", factor: int = 1, *, signed: bool = False) -> Convert:
    """Return a function that reads a text such as `700.00 W`: a number in exactly this `unit`, multiplied by `factor`.

    The returned function raises Unreadable if the product is not a whole number below 2^63.
    """
    shape = re.compile(rf"({'-?' if signed else ''}[0-9]{{1,20}}(?:\.[0-9]{{1,6}})?){re.escape(unit and ' ' + unit)}")

    def converted(text: str) -> int:
        match = shape.fullmatch(text)
        scaled = Decimal(match[1]) * factor if match else Decimal("0.5")
        if scaled != int(scaled) or abs(scaled) >= 1 << 63:
            raise Unreadable(f"not a whole number{unit and ' in ' + unit}: {clean(text)!r}")
        return int(scaled)

    return converted


def shaped(shape: str, base: int = 10) -> Convert:
    """Return a function that reads the number in `16x`, `P0` or `0x2900`: the first group of the regex `shape`."""
    pattern = re.compile(shape)

    def converted(text: str) -> int:
        match = pattern.fullmatch(text)
        if match is None:
            raise Unreadable(f"not of the form {shape}: {clean(text)!r}")
        return int(match[1], base)

    return converted


def word(**numbers: int) -> Convert:
    """Return a function that converts a word to its number, whatever its letter case; blanks and hyphens match `_`."""
    known = {name.casefold(): number for name, number in numbers.items()}

    def converted(text: str) -> int:
        found = known.get(re.sub("[ -]", "_", text).casefold())
        if found is None:
            raise Unreadable(f"not one of {', '.join(numbers)}: {clean(text)!r}")
        return found

    return converted


def text(text: str) -> str:
    """Return a text unchanged; raises Unreadable unless it is one short printable line."""
    if not text or len(text) > 256 or not text.isprintable():
        raise Unreadable(f"not one short line: {clean(text)!r}")
    return text
