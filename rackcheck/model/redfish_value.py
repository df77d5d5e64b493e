"""Values as BMCs tell them: texts that say nothing, numbers in texts, null, which is never a zero."""

import re

from rackcheck.model.fact import Reason, Unreadable, clean

BROKEN = "\ufffd"
"""What stands where a text could not be decoded."""

HEALTH = ("OK", "Warning", "Critical")

_BLANK = frozenset(
    {
        *("", "-", "--", "-*", "null", "none", "undefined", "unknown", "n/a", "na", "not available", "not specified"),
        *("not present", "version not available", "to be filled by o.e.m.", "default string"),
    }
)
"""Texts that BMCs give for a value they do not have (seen in the recorded trees and in field reports)."""


def text_of(value: object) -> str:
    """Give a text that says something; `null`, `N/A` and their like raise Unreadable."""
    if not isinstance(value, str):
        raise Unreadable(*_no("a text", value))
    if value.strip().casefold() in _BLANK:
        raise Unreadable(f"says {value.strip()!r}", Reason.NOT_COLLECTED)
    if BROKEN in value:
        raise Unreadable(f"holds broken characters: {clean(value, 60)}")
    return value.strip()


def health(value: object) -> str:
    """Give a health as Redfish knows it: OK, Warning or Critical; another word is none."""
    word = text_of(value)
    if word not in HEALTH:
        raise Unreadable(f"neither OK, Warning nor Critical: {clean(word, 60)!r}")
    return word


def measured(value: object) -> float:
    """Give a number, also from a text that is one (metric reports); null is not a zero."""
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?", value.strip(" \t\r\n")):
        return float(value.strip(" \t\r\n"))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Unreadable(*_no("a number", value))
    if not -1e15 < value < 1e15:
        raise Unreadable("a number beyond any measurement")
    return float(value)


def amount(value: object) -> float:
    """Give a number of which there cannot be less than nothing: turns, watts."""
    number = measured(value)
    if number < 0:
        raise Unreadable(f"less than nothing: {number:g}")
    return number


def truth(value: object) -> bool:
    """Give a JSON true or false; null is neither."""
    if not isinstance(value, bool):
        raise Unreadable(*_no("true or false", value))
    return value


def _no(kind: str, value: object) -> tuple[str, Reason]:
    """Say why a value is none of a kind: null and missing say nothing, anything else is of another kind."""
    if value is None:
        return "says nothing", Reason.NOT_COLLECTED
    return f"is not {kind}: {clean(repr(value))}", Reason.UNPARSABLE
