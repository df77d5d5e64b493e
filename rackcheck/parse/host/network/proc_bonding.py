"""The bonding driver's report of one bond, /proc/net/bonding/NAME: a section for the bond and one for each member."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.model.regex import regex

MEMBERS = 64
"""Maximum number of members of a bond; a report with more members is not read."""

_DIGITS = regex(r"([0-9]{1,12})")
_MEGABITS = regex(r"([0-9]{1,9}) Mbps")


@dataclass(frozen=True)
class Section:
    """One section of a bond's report: values by the driver's names for them; the first value of a repeated name."""

    values: Mapping[str, str]

    def text(self, key: str, lacking: str = "") -> Reading:
        """Return the value that the driver prints for `key`; absent, with the detail `lacking`, if it prints none."""
        return self.values.get(key, Absent(lacking or f"no {key}"))

    def chosen(self, key: str) -> Reading:
        """Return the value that the driver prints for `key`; absent if the driver prints no value, or None."""
        text = self.values.get(key, "None")
        return Absent(f"no {key}") if text == "None" else text

    def number(self, key: str, form: re.Pattern[str] = _DIGITS) -> Reading:
        """Return the number that the driver prints for `key`, the first group of `form`; absent if it prints none."""
        message = self.values.get(key)
        if message is None:
            return Absent(f"no {key}")
        match = form.fullmatch(message)
        return int(match[1]) if match else Unknown(Reason.UNPARSABLE, f"{key} {message[:80]!r}")

    def speed(self) -> Reading:
        """Return a member's speed in Gb/s; absent if there is no link, or if an old driver does not print the speed."""
        if self.values.get("Speed") == "Unknown":
            return Absent("no link")
        megabits = self.number("Speed", _MEGABITS)
        return megabits / 1000 if isinstance(megabits, int) else megabits


@dataclass(frozen=True)
class Bond:
    """The bond's own section, and the section of each member by interface name, in the report's order."""

    own: Section
    members: tuple[tuple[str, Section], ...]


def bond(content: str) -> Bond:
    """Parse a bond's report; raises Unreadable on other text, on more than 64 members, or on a repeated member."""
    if not content.startswith("Ethernet Channel Bonding Driver:"):
        raise Unreadable(f"not a bond: {content[:80]!r}")
    found: list[dict[str, str]] = [{}]
    for row in content.splitlines():
        key, mark, value = row.strip().partition(": ")
        if mark and key == "Slave Interface":
            found.append({})
        if mark:
            found[-1].setdefault(key, value.strip())
    own, *members = found
    if len(members) > MEMBERS:
        raise Unreadable(f"more than {MEMBERS} members", Reason.TOO_LARGE)
    names = [values["Slave Interface"] for values in members]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Unreadable(f"a member is listed twice: {twice[:80]!r}")
    return Bond(Section(own), tuple((values["Slave Interface"], Section(values)) for values in members))
