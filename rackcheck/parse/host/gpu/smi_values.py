"""Convert texts of `nvidia-smi -q -x` to the values that NVML returns, to absent, or to why there is no value.

nvidia-smi prints each value of NVML as a text; these readers reverse that, so that both interfaces return the
same: bytes, milliwatts, nanoseconds, 0 and 1. A value is `{"value": ...}`, `{"absent": detail}` or `{"unknown": reason,
"detail": detail}`, the reason in the words of `Reason`.
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
"""NVML's texts for its errors, as in nvidia-ml-py and in recorded output; printed instead of a value."""


def unknown(reason: Reason, detail: str) -> SmiGpu:
    """Return an unknown value with its reason."""
    return {"unknown": reason.value, "detail": f"nvidia-smi: {clean(detail)}"}


def refusal(text: str) -> SmiGpu | None:
    """Return the reading for a text printed instead of a value (`N/A`, `[Unknown Error]`, `GPU is lost`), else None."""
    word = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
    if word in _ABSENT:
        return {"absent": f"nvidia-smi: {word}"}
    return unknown(_REFUSALS[word], word) if word in _REFUSALS else None


def converted(text: str, convert: Convert) -> SmiGpu:
    """Return a text's value, or the reason why it has none."""
    if instead := refusal(text):
        return instead
    try:
        return {"value": convert(text)}
    except Unreadable as error:
        return unknown(error.reason, str(error))


def total(*parts: SmiGpu | None) -> SmiGpu | None:
    """Add up the parts: an absent part counts as 0, an unknown one makes the sum unknown.

    None if a part is not printed, or if there are no parts.
    """
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not known:
        return None
    values = [part["value"] for part in known if "value" in part]
    gap = next((part for part in known if "unknown" in part), None)
    return gap or ({"value": sum(values)} if values else known[0])


def number(unit: str = "", factor: int = 1, *, signed: bool = False) -> Convert:
    """Read a number in exactly this unit, times a factor; a result that is not whole, or beyond 64 bits, is refused."""
    shape = re.compile(rf"({'-?' if signed else ''}[0-9]{{1,20}}(?:\.[0-9]{{1,6}})?){re.escape(unit and ' ' + unit)}")

    def converted(text: str) -> int:
        match = shape.fullmatch(text)
        scaled = Decimal(match[1]) * factor if match else Decimal("0.5")
        if scaled != int(scaled) or abs(scaled) >= 1 << 63:
            raise Unreadable(f"not a whole number{unit and ' in ' + unit}: {clean(text)!r}")
        return int(scaled)

    return converted


def shaped(shape: str, base: int = 10) -> Convert:
    """Read the number inside a text: `16x`, `P0`, `0x2900`."""
    pattern = re.compile(shape)

    def converted(text: str) -> int:
        match = pattern.fullmatch(text)
        if match is None:
            raise Unreadable(f"not of the form {shape}: {clean(text)!r}")
        return int(match[1], base)

    return converted


def word(**numbers: int) -> Convert:
    """Read a word as its number; its blanks and hyphens are underscores in `numbers`; letter case is ignored."""
    known = {name.casefold(): number for name, number in numbers.items()}

    def converted(text: str) -> int:
        found = known.get(re.sub("[ -]", "_", text).casefold())
        if found is None:
            raise Unreadable(f"not one of {', '.join(numbers)}: {clean(text)!r}")
        return found

    return converted


def text(text: str) -> str:
    """Return one short line unchanged."""
    if not text or len(text) > 256 or not text.isprintable():
        raise Unreadable(f"not one short line: {clean(text)!r}")
    return text
