"""Values of BIOS attributes: plain values, and objects that hold the current value beside others. Pure."""

import re
from collections.abc import Mapping

from rackcheck.model.redfish_value import BROKEN

CURRENT = ("currentvalue", "currentsetting", "current", "value")
"""Names of the current value in an object, without case and signs; the first that an object has decides."""

PENDING = ("pendingvalue", "pendingsetting", "pending", "futurevalue")
"""Names in an object of the value that the next boot sets, without case and signs."""

KEYS = 40
"""Maximum number of names of one object that are compared."""


def scalar(value: object) -> str | None:
    """Return a BIOS attribute's value as text, or None if it has no value.

    Of an object, the current value is returned; None if the object has none, or several that differ. A text that could
    not be decoded counts as a missing value.
    """
    if isinstance(value, Mapping):
        value = _held(value, CURRENT)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value}" if -1e18 < value < 1e18 else None
    return value if isinstance(value, str) and BROKEN not in value else None


def pending(value: object) -> str | None:
    """Return the value that the next boot sets, as an attribute's own object has it; None if there is none."""
    return scalar(_held(value, PENDING)) if isinstance(value, Mapping) else None


def _held(value: Mapping[str, object], names: tuple[str, ...]) -> object:
    folded = [(re.sub(r"[^a-z0-9]", "", str(key).casefold()), each) for key, each in list(value.items())[:KEYS]]
    for name in names:
        found = [each for key, each in folded if key == name]
        if found:
            alike = all(type(each) is type(found[0]) and each == found[0] for each in found)
            return found[0] if alike and not isinstance(found[0], Mapping) else None
    return None


def by_name(listed: list[object]) -> dict[str, object]:
    """Return attributes listed as objects with an `AttributeName`, by this name; none if an object has no name.

    A name that is listed twice has no value, because either may be the current one.
    """
    found: dict[str, object] = {}
    for entry in listed:
        name = entry.get("AttributeName") if isinstance(entry, Mapping) else None
        if not isinstance(name, str):
            return {}
        found[name] = {} if name in found else entry
    return found
