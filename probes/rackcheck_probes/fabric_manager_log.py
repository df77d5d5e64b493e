"""Errors in the Fabric Manager's log since its last start.

The log may hold a gigabyte: its newest 4 MiB are searched, on the node. Where the last start is older than those, or
stands in a log that was turned over since, the errors were not all seen, and their number is unknown.
"""

import re

from rackcheck import Absent, Class, Facts, Reason, Shell, Unknown, Unreadable, integer, listing, probe, text
from rackcheck.core import read
from rackcheck.core.fact import clean

FATAL = re.compile(r"detected NVSwitch fatal error|Fabric Manager detected GPU NVL Fatal error")
SWITCH = re.compile(r"detected NVSwitch (?:non-)?fatal error (?P<code>[0-9]{1,6})\b")
PLACE = "/var/log/fabricmanager.log"
NEWEST = 4 << 20
START = re.compile(r"\[[^\]]{1,40}\] \[[A-Z]{1,12}\] \[tid [0-9]{1,10}\] Fabric Manager version \S{1,40} is running\b")
BAD = re.compile(r"\[[^\]]{1,40}\] \[(?P<level>WARNING|ERROR|FATAL|CRITICAL)\] (?:\[tid [0-9]{1,10}\] )?(?P<said>.*)")


@probe(
    Shell(
        f"wc -c <{PLACE} && {{ tail -c {NEWEST} {PLACE} | grep -E "
        "'Fabric Manager version .* is running|\\] \\[(WARNING|ERROR|FATAL|CRITICAL)\\] ' || [ $? -eq 1 ]; }",
        cap=4 << 20,
        quick=True,
    ),
    gives={
        "log.fabric_manager.errors": integer("Errors that it logged since its last start.", Class.COUNTER),
        "log.fabric_manager.warnings": integer("Warnings that it logged since its last start.", Class.COUNTER),
        "log.fabric_manager.fatal": integer(
            "Of the errors, those that it calls fatal errors of an NVSwitch or of a GPU's NVLink.", Class.COUNTER
        ),
        "log.fabric_manager.sxids": listing(
            "NVSwitch errors, fatal and not, that it logged since its last start, by number.", Class.COUNTER
        ),
        "log.fabric_manager.last": text(
            "The last of these errors and warnings, without its time; absent without one.", Class.MEASUREMENT
        ),
    },
)
def fabric_manager_log(answer: str) -> Facts:
    """Count what stands behind the last start."""
    rows = read.rows(answer)
    if not rows:
        raise Unreadable("no size of the log")
    size = read.whole(rows[0])
    starts = [at for at, row in enumerate(rows) if START.match(row)]
    since = [row for row in rows[starts[-1] if starts else 1 :] if not START.match(row)]
    odd = next((row for row in since if not BAD.match(row)), None)
    if odd is not None:
        raise Unreadable(f"neither a start nor an error: {clean(odd, 80)!r}")
    bad = [match for row in since if (match := BAD.match(row))]
    warnings = sum(match["level"] == "WARNING" for match in bad)
    codes = {int(match["code"]) for row in bad if (match := SWITCH.match(row["said"]))}
    unread = Unknown(Reason.NOT_READ_FURTHER, f"no start in the newest {NEWEST} of {size} bytes")
    yield "log.fabric_manager.errors", len(bad) - warnings if starts else unread
    yield "log.fabric_manager.warnings", warnings if starts else unread
    yield "log.fabric_manager.fatal", sum(FATAL.match(row["said"]) is not None for row in bad) if starts else unread
    yield "log.fabric_manager.sxids", tuple(str(code) for code in sorted(codes)) if starts else unread
    last = clean(bad[-1]["said"]) if bad else None
    yield "log.fabric_manager.last", last or (Absent("no such line") if starts else unread)
