"""How often the system has started, also of late, and how often without having been shut down."""

import calendar
import re
import time
from itertools import pairwise

from rackcheck import Class, Facts, Reason, Shell, Unknown, Unreadable, integer, probe
from rackcheck.core import read

MOST = 400
END = "-- end --"
WINDOWS = {"two_hours": 2, "day": 24, "week": 168}
DATE = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2} [ 0-3][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} [0-9]{4})")


def moment(row: str) -> int | None:
    """Give the first date of a row in seconds since 1970; the question asks for UTC."""
    found = DATE.search(row)
    try:
        return calendar.timegm(time.strptime(found[1], "%b %d %H:%M:%S %Y")) if found else None
    except ValueError:
        return None


def late(rows: list[str], now: int, up: int, window: int) -> int | Unknown:
    """Count the starts of the last `window` seconds; the node has been up for `up`."""
    if up >= window:
        return 0
    starts = [moment(row) for row in rows if row.startswith("reboot ")]
    begins = moment(next((row for row in reversed(rows) if row), ""))
    if begins is None or begins > now - window:
        return Unknown(Reason.NOT_READ_FURTHER, "wtmp was not read, or does not reach back, so far")
    if any(start is None or start > now for start in starts):
        return Unknown(Reason.UNPARSABLE, "wtmp has a start in the future, or at no time")
    found = [start for start in starts if start is not None and start > now - window]
    return len(found) or Unknown(Reason.NOT_COLLECTED, "wtmp has no record of the last start")


@probe(
    Shell(
        f't=$(TZ=UTC0 last -F -x reboot shutdown) && printf "%s\\n" "$t" | head -n {MOST} && read -r u _ </proc/uptime'
        f' && echo "now $(date +%s) ${{u%.*}}" && echo "{END}"',
        quick=True,
    ),
    gives={
        "os.boot.count": integer(
            f"Starts that wtmp has on record, of the newest {MOST} lines; its file is turned over, mostly monthly.",
            Class.COUNTER,
        ),
        "os.boot.unclean": integer(
            "Starts of these that came without a shutdown: the power went, somebody reset it, or it crashed.",
            Class.COUNTER,
        ),
        **{
            f"os.boot.within.{leaf}": integer(
                f"Starts within the last {hours} hours by the node's clock; unknown where wtmp is younger.",
                Class.MEASUREMENT,
            )
            for leaf, hours in WINDOWS.items()
        },
    },
)
def boots(answer: str) -> Facts:
    """Read the newest starts and shutdowns, newest first; of the oldest start nobody knows what was before."""
    rows = read.rows(answer)
    clock = re.fullmatch(r"now ([0-9]{1,12}) ([0-9]{1,12})", rows[-2]) if len(rows) > 1 and rows[-1] == END else None
    if clock is None:
        raise Unreadable("the answer was cut")
    kinds = [row.split(maxsplit=1)[0] for row in rows[:-2] if row.startswith(("reboot ", "shutdown "))]
    if not kinds and not any(re.match(r"\S{0,80}wtmp\S{0,20} ", row) for row in rows):
        raise Unreadable(f"no line of wtmp: {rows[0][:80]!r}")
    # The system is up, so it has started: a record without any start tells nothing of starts.
    none = Unknown(Reason.NOT_COLLECTED, "wtmp has no start on record") if "reboot" not in kinds else None
    yield "os.boot.count", none or kinds.count("reboot")
    yield "os.boot.unclean", none or sum(newer == older == "reboot" for newer, older in pairwise(kinds))
    for leaf, hours in WINDOWS.items():
        yield f"os.boot.within.{leaf}", late(rows[:-2], int(clock[1]), int(clock[2]), hours * 3600)
