"""Functions that convert NVML's numbers and texts into values of facts, for the tables of the GPU probes."""

import re
from collections.abc import Callable
from typing import Any

from rackcheck import Unreadable
from rackcheck.model.fact import Value


def unchanged(value: Any) -> Value:
    """Return a number or a text without any change."""
    if not isinstance(value, int | str) or isinstance(value, bool) or value == "":
        raise Unreadable(f"expected a number or a text, got: {value!r:.80}")
    return value


def counted(value: Any) -> int:
    """Return a count; raises Unreadable if it is not an unsigned 64-bit integer, which is how NVML returns counts."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 64:
        raise Unreadable(f"not an unsigned 64-bit number: {value!r:.80}")
    return value


def scaled(unit: float) -> Callable[[Any], Value]:
    """Return a function that divides one of NVML's unsigned integers by `unit`."""

    def converted(value: Any) -> Value:
        return counted(value) / unit

    return converted


def one_of(*words: str) -> Callable[[Any], Value]:
    """Return a function that converts one of NVML's numbers to the word at that index in `words`."""

    def converted(value: Any) -> Value:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(words):
            raise Unreadable(f"expected one of {', '.join(words)}, got: {value!r:.80}")
        return words[value]

    return converted


def yes(value: Any) -> bool:
    """Read NVML's 0 as false and 1 as true."""
    return one_of("no", "yes")(value) == "yes"


def no(value: Any) -> bool:
    """Read NVML's 0 as true and 1 as false, for the result of a check that returns 0 on success."""
    return not yes(value)


ENABLED = one_of("disabled", "enabled")
SIZE = scaled(1 << 30)
POWER = scaled(1000)


def degrees(value: Any) -> Value:
    """Read a signed temperature; NVML may return a value below zero as an unsigned 32-bit number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unreadable(f"not a temperature: {value!r:.80}")
    signed = value - (1 << 32) if 1 << 31 <= value < 1 << 32 else value
    if not -1000 < signed < 1000:
        raise Unreadable(f"not a temperature: {value!r:.80}")
    return float(signed)


def address(value: Any) -> Value:
    """Convert a PCI address from NVML's spelling (`00000000:17:00.0`) to the kernel's (`0000:17:00.0`)."""
    match = (
        re.fullmatch(r"([0-9A-Fa-f]{4,8}):([0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])", value)
        if isinstance(value, str)
        else None
    )
    if match is None:
        raise Unreadable(f"not a PCI address: {value!r:.80}")
    return f"{int(match[1], 16):04x}:{match[2].lower()}"


def pstate(value: Any) -> Value:
    """Read a performance state from 0 (the fastest) to 15; raises Unreadable on others, such as NVML's 32 (unknown)."""
    number = counted(value)
    if number > 15:
        raise Unreadable(f"not a performance state: {number}")
    return number


REASONS = (
    "gpu idle", "applications clocks setting", "sw power cap", "hw slowdown", "sync boost", "sw thermal slowdown",
    "hw thermal slowdown", "hw power brake slowdown", "display clock setting", "board limit", "reliability",
)  # fmt: skip
"""Names of NVML's clock event reasons, in the order of their bits from the lowest."""

LIMITED = 0x08 | 0x20 | 0x40 | 0x80
"""Mask of clock event reasons that show a problem; the software power cap shows none, as it is normal under load."""


def mask(value: Any) -> int:
    """Return a bit mask; raises Unreadable if it is not an unsigned 64-bit integer."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 64:
        raise Unreadable(f"not a mask: {value!r:.80}")
    return value


def reasons(value: Any) -> Value:
    """Return the names of the clock event reasons in a bit mask; a bit without a name is returned as `bit 12`."""
    bits = [bit for bit in range(64) if mask(value) >> bit & 1]
    return tuple(REASONS[bit] if bit < len(REASONS) else f"bit {bit}" for bit in bits)


def limited(value: Any) -> Value:
    """Whether a bit mask contains a clock event reason that shows a problem of heat or power (see `LIMITED`)."""
    return bool(mask(value) & LIMITED)


RECOVERY = ("none", "reset", "reboot", "drain p2p", "drain and reset")


def recovery(value: Any) -> Value:
    """Return a recovery action's name; a number above 4, whose meaning depends on the driver, becomes `action 5`."""
    number = counted(value)
    return RECOVERY[number] if number < len(RECOVERY) else f"action {number}"


def bit_error_rate(value: Any) -> tuple[int, int]:
    """Split NVML's bit error rate into mantissa (bits 8 to 11) and negated exponent of ten (bits 0 to 7)."""
    number = counted(value)
    mantissa, exponent = number >> 8 & 0xF, number & 0xFF
    if number >> 12 or not number:
        raise Unreadable(f"not a bit error rate: {number:#x}")
    return mantissa, exponent


def ber(value: Any) -> Value:
    """Convert NVML's bit error rate to the format of NVIDIA's tools: `15e-255`."""
    mantissa, exponent = bit_error_rate(value)
    return f"{mantissa}e-{exponent}"


def ber_exponent(value: Any) -> Value:
    """Round a bit error rate up to a power of ten, and return the exponent: -12 for 1e-12, -11 for 2e-12."""
    mantissa, exponent = bit_error_rate(value)
    return (0 if mantissa <= 1 else 1 if mantissa <= 10 else 2) - exponent
