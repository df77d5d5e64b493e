"""What a fault is told in a scenario's words, each held against what it can be."""

import re
from collections.abc import Collection, Mapping

from rackcheck.base.user_error import UserError
from rackcheck.profile.layers import did_you_mean

FaultWords = Mapping[str, str]
"""The words of one fault, defaults among them."""

SLOWEST = 600_000
"""Milliseconds that one answer of a BMC may take: ten minutes, longer than anybody waits for one."""


def number(given: FaultWords, word: str, low: int | None = None, high: int | None = None) -> int:
    """Read a whole number within bounds; raises UserError."""
    within = "" if low is None else f" from {low} to {high}"
    found = int(given[word]) if re.fullmatch(r"-?[0-9]{1,12}", given[word]) else None
    if found is None or (low is not None and found < low) or (high is not None and found > high):
        raise UserError(f"`{word}` is a whole number{within}, not {given[word]!r}")
    return found


def lanes(given: FaultWords, word: str, most: object) -> int:
    """Read how many lanes a PCIe link trained, of `most` that it has; raises UserError."""
    widths = [width for width in (1, 2, 4, 8, 16) if not isinstance(most, int) or width <= most]
    if given[word] not in map(str, widths):
        raise UserError(f"`{word}` is one of {', '.join(map(str, widths))}, not {given[word]!r}")
    return int(given[word])


def path(given: FaultWords, word: str, known: Collection[str] | None = None) -> str:
    """Read a file's whole path, of those that are known where they are told; raises UserError."""
    found = given[word]
    if not found.startswith("/"):
        raise UserError(f"`{word}` is a whole path, from /, not {found!r}")
    if known is not None and found not in known:
        folder = found.rpartition("/")[0]
        beside = [one for one in known if one.rpartition("/")[0] == folder]
        raise UserError(f"the machine has no file {found}{did_you_mean(found, beside or sorted(known))}")
    return found
