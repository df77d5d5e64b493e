"""Reads and validates the parameters of a fault in a scenario."""

import re
from collections.abc import Collection, Mapping

from rackcheck.base.user_error import UserError
from rackcheck.profile.layers import did_you_mean

FaultWords = Mapping[str, str]
"""The parameters of one fault, including defaults."""

SLOWEST = 600_000
"""Maximum latency of a BMC's reply, in milliseconds: ten minutes, longer than any client waits."""


def number(given: FaultWords, word: str, low: int | None = None, high: int | None = None) -> int:
    """Read a whole number between two limits; raises UserError if the value is invalid."""
    within = "" if low is None else f" from {low} to {high}"
    found = int(given[word]) if re.fullmatch(r"-?[0-9]{1,12}", given[word]) else None
    if found is None or (low is not None and found < low) or (high is not None and found > high):
        raise UserError(f"`{word}` must be a whole number{within}, not {given[word]!r}")
    return found


def lanes(given: FaultWords, word: str, most: object) -> int:
    """Read the number of trained lanes of a PCIe link with at most `most` lanes; raises UserError if it is invalid."""
    widths = [width for width in (1, 2, 4, 8, 16) if not isinstance(most, int) or width <= most]
    if given[word] not in map(str, widths):
        raise UserError(f"`{word}` must be one of {', '.join(map(str, widths))}, not {given[word]!r}")
    return int(given[word])


def path(given: FaultWords, word: str, known: Collection[str] | None = None) -> str:
    """Read the absolute path of a file; raises UserError if it is not absolute, or is not in `known` (unless None)."""
    found = given[word]
    if not found.startswith("/"):
        raise UserError(f"`{word}` must be an absolute path, not {found!r}")
    if known is not None and found not in known:
        folder = found.rpartition("/")[0]
        beside = [one for one in known if one.rpartition("/")[0] == folder]
        raise UserError(f"the machine has no file {found}{did_you_mean(found, beside or sorted(known))}")
    return found
