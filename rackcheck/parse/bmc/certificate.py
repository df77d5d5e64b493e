"""How long a certificate is valid, by the clock of whoever saw it."""

from datetime import datetime

from rackcheck.model.fact import Reason, Unreadable, clean
from rackcheck.model.redfish_value import said
from rackcheck.model.resource import Resource


def days_left(ends: object, seen: Resource) -> int:
    """Give the whole days from a handshake to the end of its certificate; below zero where it is over."""
    when = seen.body.get("Seen")
    if when is None:
        raise Unreadable("was seen at a time that this run did not keep", Reason.NOT_COLLECTED)
    try:
        return (_moment(ends) - _moment(when)).days
    except TypeError as error:
        raise Unreadable(f"has no zone: {clean(str(ends), 60)!r}") from error


def _moment(told: object) -> datetime:
    text = said(told)
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise Unreadable(f"is no date and time: {clean(text, 60)!r}") from error
