"""The JSON that nvme-cli (all versions) and smartctl print about drives."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rackcheck.model.fact import Reading, Reason, Unknown, Unreadable, Value, clean
from rackcheck.model.regex import regex
from rackcheck.model.text import json_text

_BEGIN = regex(r"^[ \t]{0,100}\{", re.MULTILINE)
_DIGITS = regex(r"[0-9]{1,39}")
"""Matches a count in an NVMe log: the counters have 128 bits, that is, up to 39 digits."""

_ACTIVE = "Active Firmware Slot (afi)"

LogField = tuple[tuple[str, ...], Callable[[int], Value]]
"""How to read one count: its names in different versions of the tools, and the function that converts it to a fact."""


def _none(word: str) -> None:
    raise ValueError(f"not a number: {word}")


def document(message: str) -> Mapping[str, Any]:
    """Return the JSON object in the output of a tool; raises Unreadable if the output has no JSON object.

    Error messages may precede or follow the JSON object: an early nvme-cli printed its log and crashed.
    """
    begin = _BEGIN.search(message)
    try:
        found, _ = json.JSONDecoder(object_pairs_hook=json_text.once, parse_constant=_none).raw_decode(
            message, begin.end() - 1 if begin else len(message)
        )
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {clean(message, 80)!r}") from error
    assert isinstance(found, dict)  # it begins with a brace
    return found


def inside(table: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """Return the object at a path of names in nested JSON objects; raises Unreadable if there is no such object."""
    for name in names:
        found = table.get(name)
        if not isinstance(found, dict):
            raise Unreadable(f"no {name!r}")
        table = found
    return table


def counted(table: Mapping[str, Any], *names: str) -> int:
    """Return the count under the first of its `names` that is present; raises Unreadable without a valid count.

    nvme-cli writes a count as a number, as a text, or, in verbose output, as an object with a `value`; it writes a
    count of more than 64 bits as a floating-point number.
    """
    name = next((name for name in names if name in table), None)
    if name is None:
        raise Unreadable(f"no {' or '.join(map(repr, names))}", Reason.NOT_COLLECTED)
    value = table[name]
    if isinstance(value, dict):
        value = value.get("value")
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not 0 <= value < 1 << 128:
        raise Unreadable(f"{name} is not a count: {clean(repr(value), 80)}")
    return int(value)


def counts(reading: str | Unknown, fields: Mapping[str, LogField], *within: str) -> dict[str, Reading]:
    """Return a reading for each of `fields` from one drive's output; `within` is the path of the object to read.

    A field that is missing in the output is unknown, not absent, as another version of the tool may have renamed it.
    """
    try:
        table = {} if isinstance(reading, Unknown) else inside(document(reading), *within)
    except Unreadable as error:
        reading, table = Unknown(error.reason, str(error)), {}
    return {leaf: reading if isinstance(reading, Unknown) else _reading(table, field) for leaf, field in fields.items()}


def _reading(table: Mapping[str, Any], field: LogField) -> Reading:
    names, reader = field
    try:
        return reader(counted(table, *names))
    except Unreadable as error:
        return Unknown(error.reason, str(error))


def celsius(kelvin: int) -> float:
    """Convert kelvins to degrees C by subtracting 273, as the tools do; raises Unreadable outside 200 to 500 K."""
    if not 200 <= kelvin <= 500:
        raise Unreadable(f"not a drive's temperature in kelvins: {kelvin}")
    return float(kelvin - 273)


@dataclass(frozen=True)
class Slots:
    """The slot of the running firmware, and whether the firmware of another slot will run after the next reset."""

    running: int | Unknown
    pending: bool | Unknown


def slots(reading: str | Unknown, name: str) -> Slots:
    """Read the firmware slots from nvme-cli's firmware log of the device `name`.

    The byte `afi` of the firmware log has the slot of the running firmware in bits 0 to 2; bits 4 to 6 are the slot of
    the next reset, or 0. In nvme-cli's JSON, the key of the firmware log is the device's name.
    """
    if isinstance(reading, Unknown):
        return Slots(reading, reading)
    try:
        byte = counted(inside(document(reading), name), _ACTIVE)
    except Unreadable as error:
        unknown = Unknown(error.reason, str(error))
        return Slots(unknown, unknown)
    running, following = byte & 7, (byte >> 4) & 7
    return Slots(running, following not in {0, running})
