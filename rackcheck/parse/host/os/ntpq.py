"""ntpd's variables as `ntpq -c rv` prints them: `leap=00, stratum=5, refid=10.1.5.8`; times are milliseconds."""

import re
from collections.abc import Iterable

from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import number, rows

NONE = "no ntpq"
"""Printed if ntpq is not installed on the node."""

LEAP = {0: "none", 1: "insert", 2: "delete", 3: "unsynchronized"}
"""The meanings of ntpd's leap indicator; 3 is reported while ntpd is not synchronized."""

_REFUSED = re.compile(r"[^\n=]{0,80}\bConnection refused\n")
_VARIABLE = re.compile(r'\b([a-z_]{1,30})=("[^"\n]{0,300}"|[^\s,"]{1,100})')


def lacking(answer: str) -> str | None:
    """Return why ntpd did not respond; None if it did."""
    if rows(answer) == [NONE]:
        return "ntpd is not installed"
    return "ntpd does not run" if _REFUSED.fullmatch(answer) else None


def variables(answer: str, needed: Iterable[str]) -> dict[str, str]:
    """Return the variables by name; if repeated, the last counts. Raises Unreadable if a needed variable is missing."""
    table = dict(_VARIABLE.findall(answer))
    missing = [name for name in needed if name not in table]
    if missing:
        raise Unreadable(f"ntpq does not report {', '.join(missing)}: {answer[:80]!r}")
    return table


def leap(bits: str) -> str:
    """Return the meaning of the leap indicator's two bits, `11`; raises Unreadable on anything else."""
    if not re.fullmatch("[01]{1,2}", bits):
        raise Unreadable(f"not a leap indicator of one or two bits: {bits!r}")
    return LEAP[int(bits, 2)]


def seconds(milliseconds: str) -> float:
    """Convert milliseconds to seconds; raises Unreadable if the text is not a number."""
    return round(number(milliseconds) / 1000, 9)
