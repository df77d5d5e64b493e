"""ntpd's variables as `ntpq -c rv` prints them: `leap=00, stratum=5, refid=10.1.5.8`; times are milliseconds."""

import re
from collections.abc import Iterable

from rackcheck.model.fact import Reason, Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import number, rows

NONE = "no ntpq"
"""Text that the node prints if ntpq is not installed on it."""

LEAP = {0: "none", 1: "insert", 2: "delete", 3: "unsynchronized"}
"""The meanings of ntpd's leap indicator; ntpd reports 3 while it is not synchronized."""

LOCAL = "the node's own clock"
"""The reference of an ntpd that follows its own clock, or no clock at all (orphan mode)."""

_LOCAL = regex(r"127\.127\.1\.[0-9]{1,3}|127\.0\.0\.1|\.?(?:LOCL|LCL)\.?|LOCAL\([0-9]\)")
_SILENT = regex(r"(?m)^[^\n=]{0,80}(?:timed out|not permitted|denied)")
_REFUSED = regex(r"[^\n=]{0,80}\bConnection refused\n")
_VARIABLE = regex(r'\b([a-z_]{1,30})=("[^"\n]{0,300}"|[^\s,"]{1,100})')


def lacking(answer: str) -> str | None:
    """Return why ntpd did not respond; None if it did respond."""
    if rows(answer) == [NONE]:
        return "ntpd is not installed"
    return "ntpd does not run" if _REFUSED.fullmatch(answer) else None


def variables(answer: str, needed: Iterable[str]) -> dict[str, str]:
    """Return ntpd's variables by name, the last of repeated ones; raises Unreadable if a needed variable is missing."""
    if _SILENT.search(answer):
        raise Unreadable(f"ntpd does not answer ntpq: {answer[:80]!r}", Reason.NOT_COLLECTED)
    table = dict(_VARIABLE.findall(answer))
    missing = [name for name in needed if name not in table]
    if missing:
        raise Unreadable(f"ntpq does not report {', '.join(missing)}: {answer[:80]!r}")
    return table


def reference(refid: str) -> str:
    """Return the source that ntpd follows: LOCAL for the local clock's driver, else the text of `refid`."""
    return LOCAL if _LOCAL.fullmatch(refid.strip('"')) else refid


def leap(bits: str) -> str:
    """Return the meaning of the leap indicator, two bits such as `11`; raises Unreadable on any other text."""
    if not re.fullmatch("[01]{1,2}", bits):
        raise Unreadable(f"not a leap indicator of one or two bits: {bits!r}")
    return LEAP[int(bits, 2)]


def seconds(milliseconds: str) -> float:
    """Convert milliseconds to seconds; raises Unreadable if the text is not a number."""
    return round(number(milliseconds) / 1000, 9)
