"""How far a BMC's clock is from ours."""

import re
from datetime import datetime

from rackcheck import Reason, Sourced, Unknown, Unreadable
from rackcheck.model.fact import clean
from rackcheck.model.redfish_value import text_of
from rackcheck.model.resource import Resource

ZONE = r"Z|[+-][0-9]{2}:[0-9]{2}"
TIME = re.compile(rf"[0-9]{{4}}(-[0-9]{{2}}){{2}}T[0-9]{{2}}(:[0-9]{{2}}){{2}}(\.[0-9]{{1,9}})?(?P<zone>{ZONE})?")


def offset(manager: Resource) -> Sourced:
    """Give a manager's clock less ours in seconds, of the moment when its body came.

    A clock that was never set (1970, or the year of the BMC's build) is as far off as it says. One without a zone,
    in the time or beside it, is unknown: it may be right.
    """
    return manager.read("DateTime", lambda value: _between(_zoned(text_of(value), manager), manager))


def _zoned(text: str, manager: Resource) -> datetime:
    """Read `2024-07-10T22:11:16+00:00`, or the same with its zone in DateTimeLocalOffset."""
    match = TIME.fullmatch(text)
    if match is None:
        raise Unreadable(f"is no date and time: {clean(text, 60)!r}")
    if match["zone"] is None:
        beside = manager.read("DateTimeLocalOffset").reading
        if isinstance(beside, Unknown) or not re.fullmatch(ZONE, str(beside)):
            raise Unreadable(f"does not say its zone: {text!r}", Reason.NOT_COLLECTED)
        text += str(beside)
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise Unreadable(f"is no date and time: {text!r}") from error


def _between(time: datetime, manager: Resource) -> float:
    if manager.heard is None:
        raise Unreadable("came at a time that this run did not keep", Reason.NOT_COLLECTED)
    try:
        return round((time - datetime.fromisoformat(manager.heard)).total_seconds(), 2)
    except (ValueError, TypeError) as error:
        raise Unreadable(f"came at {clean(manager.heard, 60)!r}, which is no time") from error
