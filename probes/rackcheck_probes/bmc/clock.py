"""The difference between a BMC's clock and rackcheck's."""

import re
from datetime import datetime

from rackcheck import Reason, Sourced, Unknown, Unreadable
from rackcheck.model.fact import clean
from rackcheck.model.redfish_value import text_of
from rackcheck.model.regex import regex
from rackcheck.model.resource import Resource

ZONE = r"Z|[+-][0-9]{2}:[0-9]{2}"
TIME = regex(rf"[0-9]{{4}}(-[0-9]{{2}}){{2}}T[0-9]{{2}}(:[0-9]{{2}}){{2}}(\.[0-9]{{1,9}})?(?P<zone>{ZONE})?")


def offset(manager: Resource) -> Sourced:
    """Return a manager's clock minus rackcheck's clock in seconds, measured when the manager's response arrives.

    The offset of a clock that was never set (1970, or the year of the BMC's build) is reported in full. The offset is
    unknown if neither DateTime nor DateTimeLocalOffset has a time zone, because then the clock may be right.
    """
    return manager.read("DateTime", lambda value: _between(_zoned(text_of(value), manager), manager))


def _zoned(text: str, manager: Resource) -> datetime:
    """Read a time such as `2024-07-10T22:11:16+00:00`; a time without a zone gets the zone in DateTimeLocalOffset."""
    match = TIME.fullmatch(text)
    if match is None:
        raise Unreadable(f"is not a date and time: {clean(text, 60)!r}")
    if match["zone"] is None:
        beside = manager.read("DateTimeLocalOffset").reading
        if isinstance(beside, Unknown) or not re.fullmatch(ZONE, str(beside)):
            raise Unreadable(f"has no time zone: {text!r}", Reason.NOT_COLLECTED)
        text += str(beside)
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise Unreadable(f"is not a date and time: {text!r}") from error


def _between(time: datetime, manager: Resource) -> float:
    if manager.heard is None:
        raise Unreadable(
            "cannot be compared: the arrival time of the response is not stored in this run", Reason.NOT_COLLECTED
        )
    try:
        return round((time - datetime.fromisoformat(manager.heard)).total_seconds(), 2)
    except (ValueError, TypeError) as error:
        raise Unreadable(f"arrived at {clean(manager.heard, 60)!r}, which is not a time") from error
