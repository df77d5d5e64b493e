"""Reads the fields of burn-in records and checks the type of each value, since a node may print anything. Pure.

Every reader raises TypeError or ValueError for a value that does not have the expected type.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from rackcheck.model.fact import clean
from rackcheck.model.regex import regex

HUGE = 2**64
"""Exclusive limit on the absolute value of a number in a record; every valid index, seed and address is smaller."""

TEXT = 200
"""Maximum number of characters that are kept of a text field; the output of a tool has a separate limit."""


def _number(value: Any) -> float:
    """Read a number. An integer is not converted to float, which cannot hold every 64-bit seed."""
    kind = type(value)
    if (kind is not float and kind is not int) or not -HUGE < value < HUGE:
        raise TypeError("expected a number")
    return value  # type: ignore[no-any-return]  # int or float, as checked above


def _count(value: Any) -> float:
    """Read an integer that is not negative."""
    if _number(value) < 0 or value != int(value):
        raise ValueError("expected a whole number of at least zero")
    return int(value)


def _amount(value: Any) -> float:
    """Read a number that is not negative."""
    if _number(value) < 0:
        raise ValueError("expected a number of at least zero")
    return value  # type: ignore[no-any-return]  # it is a number


def _flag(value: Any) -> float:
    """Read a number or a boolean; a boolean becomes 0.0 or 1.0."""
    return float(value) if type(value) is bool else _number(value)


def text(value: Any) -> str:
    """Read a text, cleaned for one line of output."""
    if type(value) is not str:
        raise TypeError("expected a text")
    return value if len(value) <= TEXT and value.isprintable() else clean(value, TEXT)


def _place(value: Any) -> str:
    """Read a memory address as text; an address written as a number becomes hexadecimal text."""
    return f"{int(_count(value)):#x}" if type(value) is int else text(value)


def _code(value: Any) -> float | str:
    """Read `code`: a number, such as an error code, or a text, such as the kind of program that ran."""
    return text(value) if type(value) is str else _number(value)


_FIELDS: Mapping[Callable[[Any], float | str], str] = {
    _number: "temp memory_temp inlet below memory_below",
    _amount: "t from until seconds limit load work rate clock memory_clock roof core_seconds share coverage power "
    "power_instant energy busy slowest waited measured least",
    _count: "mismatches reasons remap_failed ecc_corrected ecc_uncorrected remap_pending replays gen width xids mce "
    "nvlink_errors throttles edac_corrected edac_uncorrected bits count sm cpu seed xid up symbol_error link_downed "
    "xmit_wait tested total free seeds pieces rounds array sms slowest_sm length found row column pstate threads "
    "unlisted",
    _flag: "blame direct held more",
    text: "of stage test status why unit hash theirs name pattern said line want got core",
    _place: "address other",
    _code: "code",
}
_READERS = {key: read for read, keys in _FIELDS.items() for key in keys.split()}
"""The function that reads each field, by field name.

The field `fans` is read without this table. All other fields are ignored, so that newer payloads can send more fields.
"""


KINDS = regex(
    r"node|bmc|telemetry|tools|disk|(cpu|numa|gpu)/[0-9]{1,6}|peer/[0-9]{1,6}-[0-9]{1,6}"
    r"|(nic|disk)/[A-Za-z0-9_.:@+/-]{1,100}"
)
"""Pattern of a record's subject, the component that the record is about: `node`, `gpu/3` or `peer/0-1`."""

NAMES = frozenset({
    "mismatch", "disagree", "not finite", "alias", "lost", "hang", "cuda", "nvml", "throttle", "hot", "xid", "ecc",
    "replay", "crash", "late",
})  # fmt: skip
"""All valid names of faults."""

GPUS = 256
"""Maximum number of GPUs in one node's report; no machine has more."""


def name(value: str) -> str:
    """Return the name of a fault; raises ValueError if it is not one of `NAMES`."""
    if value not in NAMES:
        raise ValueError(f"not a known fault: {clean(value, 40)!r}")
    return value


def gpus(answer: Any) -> dict[str, dict[str, Any]]:
    """Read what a node reports about its GPUs, by index; values other than texts, booleans and numbers are left out."""
    if (
        not isinstance(answer, dict)
        or not all(isinstance(each, dict) for each in answer.values())
        or len(answer) > GPUS
    ):
        raise TypeError("gpus must map indexes to objects")
    if not all(re.fullmatch(r"[0-9]{1,6}", index) for index in answer):
        raise ValueError("a GPU's index is a number")
    return {index: {key: _plain(value) for key, value in each.items() if _plain(value) is not None}
            for index, each in answer.items()}  # fmt: skip


def accelerators(answer: Any) -> dict[str, dict[str, str]] | None:
    """Read the accelerators without kernels, by PCI address; None if the node could not read its PCI bus."""
    if answer is None:
        return None
    if not isinstance(answer, dict) or len(answer) > GPUS:
        raise TypeError("accelerators must map PCI addresses to objects")
    if not all(re.fullmatch(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", place) for place in answer):
        raise ValueError("an accelerator's key is a PCI address")
    return {place: {name: text(each[name]) for name in ("maker", "device")} for place, each in answer.items()}


def _plain(value: Any) -> Any:
    """Return a text, a boolean or a number as read; None for anything else."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value)
    return value if isinstance(value, int | float) and -HUGE < value < HUGE else None


def numbers(value: Any, most: int) -> tuple[str, ...]:
    """Read a list of at most `most` indexes, and return the indexes as texts."""
    if not isinstance(value, list) or len(value) > most:
        raise TypeError("expected a list of indexes")
    return tuple(str(int(_count(each))) for each in value)


def troubles(value: Any) -> list[tuple[str, str]]:
    """Read the names of the components that could not be examined, each with the reason."""
    found = [(text(each["of"]), text(each["why"])) for each in value]
    if not all(of == "cpu" or KINDS.fullmatch(of) for of, _ in found):
        raise ValueError("troubles must name parts of a node")
    return found


def fields(record: Mapping[str, Any]) -> tuple[float, str, dict[str, float], dict[str, str]]:
    """Split a record into its time `t`, its subject, its numbers and its texts.

    Raises TypeError, ValueError or KeyError if a field is invalid, or if the time or the subject is missing.
    """
    found: dict[str, float] = {}
    words: dict[str, str] = {}
    for key, value in record.items():
        read = _READERS.get(key)
        if read is None:
            if key == "fans":
                if not isinstance(value, dict):
                    raise TypeError("fans must map names to speeds")
                found.update({f"fan {text(fan)}": _number(speed) for fan, speed in value.items()})
            continue
        result = read(value)
        if isinstance(result, str):
            words[key] = result
        else:
            found[key] = result
    of = words.pop("of")
    if not KINDS.fullmatch(of):
        raise ValueError(f"not a part of a node: {clean(of, 40)!r}")
    return found.pop("t"), of, found, words
