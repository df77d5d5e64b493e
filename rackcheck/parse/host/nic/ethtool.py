"""The output of ethtool: current and maximum settings, features, statistics, and the contents of a module's memory."""

import re

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.regex import regex
from rackcheck.model.text.values import whole

MOST = 2000
"""Maximum number of lines of an output about one interface; a longer output is not read."""


_COMPLAINT = regex(r"(?:netlink error|Cannot [a-z -]{1,60}): [^\n]{1,200}\n?")
_REFUSED = ("not permitted", "permission denied")


def answered(text: str) -> str:
    """Return the output without the error lines that ethtool prints first for the settings that only root can query.

    Raises Unreadable if ethtool prints only error lines.
    """
    at = 0
    while (match := _COMPLAINT.match(text, at)) is not None:
        at = match.end()
    if at and not text[at:].strip():
        refused = any(words in text.casefold() for words in _REFUSED)
        raise Unreadable(clean(text, 80), Reason.DENIED if refused else Reason.NOT_COLLECTED)
    return text[at:]


def pairs(text: str) -> list[tuple[str, str]]:
    """Return the `name: value` lines in order; a line without a colon is skipped."""
    rows = text.splitlines()
    if len(rows) > MOST:
        raise Unreadable(f"{len(rows)} lines", Reason.TOO_LARGE)
    split = (row.strip().partition(":") for row in rows)
    return [(key.rstrip(), value.strip()) for key, mark, value in split if mark]


def number(value: str | None) -> Reading:
    """Read a number; absent if ethtool prints nothing or `n/a` instead."""
    if value is None or value in {"n/a", ""}:
        return Absent("the driver reports no value")
    try:
        return whole(value)
    except Unreadable as error:
        return Unknown(error.reason, str(error))


def switch(value: str | None) -> Reading:
    """Read `on` or `off`, also with `[fixed]` after it; absent if ethtool prints nothing or `n/a`."""
    if value is None or value in {"n/a", ""}:
        return Absent("the driver reports no value")
    word = value.split()[0]
    return word == "on" if word in {"on", "off"} else Unknown(Reason.UNPARSABLE, f"neither on nor off: {clean(value)}")


def modes(text: str, key: str) -> Reading:
    """Return the link modes of a field; further lines of the field are indented and have no colon.

    The link modes are absent if the field has none, or if the driver does not report them.
    """
    found: list[str] = []
    inside = False
    for row in text.splitlines():
        name, mark, value = row.partition(":")
        inside = name.strip() == key if mark else inside
        if inside:
            found.extend((value if mark else row).split())
    rows = tuple(found)
    return Absent("not reported") if not rows or rows in {("Not", "reported"), ("None",)} else rows


def halves(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Split `ethtool -g` and similar output into the maximum settings and the current settings."""
    highest: dict[str, str] = {}
    current: dict[str, str] = {}
    into: dict[str, str] | None = None
    for key, value in pairs(text):
        if key == "Pre-set maximums":
            into = highest
        elif key == "Current hardware settings":
            into = current
        elif into is not None:
            into.setdefault(key, value)
    if not current:
        raise Unreadable(f"no current settings: {clean(text, 80)!r}")
    return highest, current


_TELLING = regex(
    r"err|drop|discard|crc|fcs|pause|timeout|fec|symbol|lost|miss|carrier|ecn|cnp|out_of|retrans|link_down"
    r"|jabber|fragment|undersize|oversize|alloc_fail|no_buf|buf_fail|buff_alloc|corrected|wqe|prio[0-9]|overflow|stomped",
    re.IGNORECASE,
)
"""Matches the names of statistics about errors, losses and flow control, but not of those about sizes and traffic."""

_QUEUE = regex(r"^(\[|(?:(?:rx|tx)[_-])?queue_|(?:rx|tx|ch|rxq|txq)[_-]?)([0-9]{1,4})(?=\]|[_.-])")
"""Matches the beginning of a per-queue statistic's name; the second group is the queue's number."""

STATISTICS = 400
"""Maximum number of error statistics of one interface; an output with more is not read."""


def statistics(text: str) -> dict[str, int]:
    """Return the error statistics; those of single queues are added up under a name with `n` as the queue's number."""
    found: dict[str, int] = {}
    rows = answered(text).splitlines()
    if not rows or rows[0].strip() != "NIC statistics:":
        raise Unreadable(f"no statistics: {clean(text, 80)!r}")
    if len(rows) > 50_000:
        raise Unreadable(f"{len(rows)} statistics", Reason.TOO_LARGE)
    for row in rows[1:]:
        name, mark, value = row.strip().rpartition(": ")
        if not mark or not re.fullmatch(r"[0-9]{1,20}", value):
            raise Unreadable(f"not a statistic: {clean(row, 80)!r}")
        if _TELLING.search(name):
            queue = _QUEUE.sub(r"\1n", name[:80])
            found[queue] = found.get(queue, 0) + int(value)
    if len(found) > STATISTICS:
        raise Unreadable(f"{len(found)} statistics of errors and losses", Reason.TOO_LARGE)
    return found
