"""The output of `last -F -x reboot shutdown` for wtmp in UTC, newest first, then the node's clock and uptime.

reboot   system boot  5.15.0-1053-nvid Fri Nov 20 07:11:09 2026   still running
shutdown system down  5.15.0-1053-nvid Fri Nov 20 07:03:01 2026 - Fri Nov 20 07:11:09 2026  (00:08)

wtmp begins Mon Nov  2 09:31:20 2026
now 1795162269 3608
-- end --
"""

import calendar
import re
import time
from dataclasses import dataclass
from itertools import pairwise

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows

END = "-- end --"
"""Last line of a complete output; the line before it has `now`, the seconds since 1970, and the seconds since boot."""

_DATE = regex(r"[A-Z][a-z]{2} ([A-Z][a-z]{2} [ 0-3][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} [0-9]{4})")


@dataclass(frozen=True, slots=True)
class Wtmp:
    """The starts and shutdowns in wtmp as far as it was read, newest first; times are seconds since 1970.

    The time of a start whose date cannot be read is None. `begins` is the date of the oldest line read, which is the
    beginning of wtmp if wtmp was read completely. `up` is the time since boot, in seconds.
    """

    kinds: tuple[str, ...]
    starts: tuple[int | None, ...]
    begins: int | None
    now: int
    up: int

    @property
    def unclean(self) -> int:
        """The number of system starts that follow another start without a shutdown between the two."""
        return sum(newer == older == "reboot" for newer, older in pairwise(self.kinds))

    def late(self, window: int) -> int | Unknown:
        """Count the system starts in the last `window` seconds; unknown if wtmp was not read back that far."""
        if self.up >= window:
            return 0
        if self.begins is None or self.begins > self.now - window:
            return Unknown(Reason.NOT_READ_FURTHER, "the part of wtmp that was read does not reach back far enough")
        if any(start is None or start > self.now for start in self.starts):
            return Unknown(Reason.UNPARSABLE, "wtmp has a start in the future, or without a time")
        found = [start for start in self.starts if start is not None and start > self.now - window]
        return len(found) or Unknown(Reason.NOT_COLLECTED, "wtmp has no record of the last start")


def wtmp(answer: str) -> Wtmp:
    """Read the output of `last`; raises Unreadable if it is incomplete, or has no line of wtmp."""
    items = rows(answer)
    clock = re.fullmatch(r"now ([0-9]{1,12}) ([0-9]{1,12})", items[-2]) if len(items) > 1 and items[-1] == END else None
    if clock is None:
        raise Unreadable("the output was truncated")
    kinds = tuple(row.split(maxsplit=1)[0] for row in items[:-2] if row.startswith(("reboot ", "shutdown ")))
    if not kinds and not any(re.match(r"\S{0,80}wtmp\S{0,20} ", row) for row in items):
        raise Unreadable(f"last printed no start and no line about wtmp: {items[0][:80]!r}")
    starts = tuple(_moment(row) for row in items[:-2] if row.startswith("reboot "))
    begins = _moment(next((row for row in reversed(items[:-2]) if row), ""))
    return Wtmp(kinds, starts, begins, int(clock[1]), int(clock[2]))


def _moment(row: str) -> int | None:
    """Return the first date in a row, which is in UTC, in seconds since 1970; None if the row has no date."""
    found = _DATE.search(row)
    try:
        return calendar.timegm(time.strptime(found[1], "%b %d %H:%M:%S %Y")) if found else None
    except ValueError:
        return None
