"""The files of pam_limits, `limits.conf` and similar ones: domain, soft or hard, item, value; see limits.conf(5)."""

import math
from collections.abc import Iterable, Iterator

from rackcheck.model.fact import Absent, Reading, Unknown, Unreadable
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import whole

MAIN, MORE = "/etc/security/limits.conf", "/etc/security/limits.d/*.conf"
SIDES = ("soft", "hard")

_UNLIMITED = frozenset({"unlimited", "infinity", "-1"})


def places(files: Files) -> Iterator[str]:
    """Yield the files of limits in the order in which pam_limits reads them, as a later line overrides an earlier one.

    Raises Unreadable if the list of files in /etc/security/limits.d is unknown.
    """
    if files.has(MAIN):
        yield MAIN
    yield from sorted(MORE.replace("*", name) for (name,) in files.found(MORE))


def for_everybody(texts: Iterable[str]) -> dict[tuple[str, str], str]:
    """Return the limits that lines for `*` set, by item and side (soft, hard); of several lines, the last counts.

    `texts` are the contents of the files, in the order in which pam_limits reads them. A line with `-` sets both the
    soft and the hard limit. Lines for a user or a group, and lines that do not have four words, are ignored.
    """
    given: dict[tuple[str, str], str] = {}
    for text in texts:
        for row in text.splitlines():
            words = row.partition("#")[0].split()
            if len(words) == 4 and words[0] == "*":
                given |= {(words[2], side): words[3] for side in (SIDES if words[1] == "-" else (words[1],))}
    return given


def limit(value: str) -> float:
    """Return a limit as a number in the unit of its item, or infinity; raises Unreadable on any other text."""
    if value in _UNLIMITED:
        return math.inf
    if not value.isdecimal():
        raise Unreadable(f"not a limit: {value[:40]!r}")
    return whole(value)


def reading(value: str | None, lacking: str) -> Reading:
    """Return a limit; absent, with the detail `lacking`, if no line sets the limit; Unknown if the value is invalid."""
    try:
        return Absent(lacking) if value is None else limit(value)
    except Unreadable as error:
        return Unknown(error.reason, str(error))
