"""Values as BMCs return them: placeholder texts, numbers as texts, and null, which never means zero."""

import re

from rackcheck.model.fact import Reason, Unreadable, clean
from rackcheck.model.placeholder import NOTHING

BROKEN = "\ufffd"
"""The character that replaces bytes that could not be decoded."""

MOST = 1e15
"""No measurement of a machine is as large as this."""

HEALTH = ("OK", "Warning", "Critical")


def text_of(value: object) -> str:
    """Return a text; raises Unreadable for `null`, `N/A` and similar placeholders."""
    if not isinstance(value, str):
        raise Unreadable(*_no("a text", value))
    word = value.strip()
    if word.casefold() in NOTHING:
        raise Unreadable(f"is the placeholder {word!r}", Reason.NOT_COLLECTED)
    if BROKEN in value:
        raise Unreadable(f"contains broken characters: {clean(value, 60)}")
    return word


def health(value: object) -> str:
    """Return a health state of Redfish: OK, Warning or Critical; raises Unreadable for anything else."""
    word = text_of(value)
    if word not in HEALTH:
        raise Unreadable(f"is neither OK, Warning nor Critical: {clean(word, 60)!r}")
    return word


def measured(value: object) -> float:
    """Return a number, or the number in a text (metric reports); raises Unreadable for null, which is not zero."""
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?", value.strip(" \t\r\n")):
        return float(value.strip(" \t\r\n"))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Unreadable(*_no("a number", value))
    if not -MOST < value < MOST:
        raise Unreadable("is beyond any measurement")
    return float(value)


def amount(value: object) -> float:
    """Return a number, such as revolutions or watts; raises Unreadable if it is negative."""
    number = measured(value)
    if number < 0:
        raise Unreadable(f"is negative: {number:g}")
    return number


def truth(value: object) -> bool:
    """Return a JSON true or false; raises Unreadable for anything else, also for null."""
    if not isinstance(value, bool):
        raise Unreadable(*_no("true or false", value))
    return value


def _no(kind: str, value: object) -> tuple[str, Reason]:
    """Return a message and a reason: null or missing means not collected, any other value is unparsable."""
    if value is None:
        return "is null or missing", Reason.NOT_COLLECTED
    return f"is not {kind}: {clean(repr(value))}", Reason.UNPARSABLE
