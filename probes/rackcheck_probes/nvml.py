"""NVML on a node: the program that asks it, and readers of what it says."""

import re
from base64 import b85encode
from collections.abc import Callable
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import compress

from rackcheck import Absent, Reason, Unknown, Unreadable
from rackcheck.core.fact import Reading, Value


def payload() -> str:
    """Give the program that asks NVML: pynvml, packed, and our questions to it."""
    spec = find_spec("pynvml")
    if spec is None or spec.origin is None:
        raise ImportError("pynvml, of the package nvidia-ml-py, is not installed")
    packed = b85encode(compress(Path(spec.origin).read_bytes(), 9)).decode()
    ours = files("rackcheck_probes").joinpath("payload/nvml.py").read_text()
    return (
        'import base64, sys, types, zlib\nsys.modules["pynvml"] = pynvml = types.ModuleType("pynvml")\n'
        f'exec(zlib.decompress(base64.b85decode("{packed}")), vars(pynvml))\n{ours}'
    )


def one_of(*words: str) -> Callable[[Any], Value]:
    """Read an NVML number as the word at its place."""

    def converted(value: Any) -> Value:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(words):
            raise Unreadable(f"none of {', '.join(words)}: {value!r:.80}")
        return words[value]

    return converted


def persistence(value: Any) -> Value:
    """Read NVML's 0 or 1."""
    return one_of("off", "on")(value) == "on"


def scaled(unit: float) -> Callable[[Any], Value]:
    """Read a number in a smaller unit; NVML's own calls give these, temperatures too, in integers without a sign."""

    def converted(value: Any) -> Value:
        return counted(value) / unit

    return converted


def counted(value: Any) -> int:
    """Read a count: an integer without a sign, as NVML's own calls give it."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 64:
        raise Unreadable(f"not a number of 64 bits without a sign: {value!r:.80}")
    return value


def address(value: Any) -> Value:
    """Read `00000000:17:00.0` as the kernel spells it: `0000:17:00.0`."""
    match = (
        re.fullmatch(r"([0-9A-Fa-f]{4,8}):([0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])", value)
        if isinstance(value, str)
        else None
    )
    if match is None:
        raise Unreadable(f"not a PCI address: {value!r:.80}")
    return f"{int(match[1], 16):04x}:{match[2].lower()}"


REASONS = (
    "gpu idle", "applications clocks setting", "sw power cap", "hw slowdown", "sync boost", "sw thermal slowdown",
    "hw thermal slowdown", "hw power brake slowdown", "display clock setting", "board limit", "reliability",
)  # fmt: skip
"""The bits of NVML's clock event reasons, from the lowest."""


def reasons(value: Any) -> Value:
    """Read a mask of reasons as their names; a bit without a name is shown as a number."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 64:
        raise Unreadable(f"not a mask: {value!r:.80}")
    bits = [bit for bit in range(64) if value >> bit & 1]
    return tuple(REASONS[bit] if bit < len(REASONS) else f"bit {bit}" for bit in bits)


def as_told(value: Any) -> Value:
    """Take a number or a text as it is."""
    if not isinstance(value, int | str) or isinstance(value, bool) or value == "":
        raise Unreadable(f"neither a number nor a text: {value!r:.80}")
    return value


WHY = {reason.value: reason for reason in (Reason.DENIED, Reason.TOOL_MISSING, Reason.NOT_READY, Reason.TIMEOUT)}


def reading(told: Any, convert: Callable[[Any], Value]) -> Reading:
    """Give what NVML said of one thing, or why it said nothing."""
    match told:
        case {"value": value}:
            try:
                return convert(value)
            except Unreadable as error:
                return Unknown(error.reason, str(error))
        case {"absent": str(detail)}:
            return Absent(detail)
        case {"unknown": str(reason), "detail": str(detail)}:
            return Unknown(WHY.get(reason, Reason.NOT_COLLECTED), detail)
    return Unknown(Reason.NOT_COLLECTED, "NVML was not asked")
