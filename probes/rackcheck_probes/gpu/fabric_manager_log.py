"""Errors in the Fabric Manager's log since its last start.

The log may hold a gigabyte: its newest 4 MiB are searched, on the node. Where the last start is older than those, or
stands in a log that was turned over since, the errors were not all seen, and their number is unknown.
"""

from rackcheck import Absent, Class, Facts, Reason, Shell, Unknown, integer, listing, probe, text
from rackcheck.parse.host.gpu.fabric_manager_log import log

PLACE = "/var/log/fabricmanager.log"
NEWEST = 4 << 20


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
            "Of the errors and warnings, those that it calls fatal errors of an NVSwitch or of a GPU's NVLink.",
            Class.COUNTER,
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
    value = log(answer)
    unread = Unknown(Reason.NOT_READ_FURTHER, f"no start in the newest {NEWEST} of {value.size} bytes")
    yield "log.fabric_manager.errors", value.errors if value.started else unread
    yield "log.fabric_manager.warnings", value.warnings if value.started else unread
    yield "log.fabric_manager.fatal", value.fatal if value.started else unread
    yield "log.fabric_manager.sxids", tuple(str(code) for code in value.sxids) if value.started else unread
    yield "log.fabric_manager.last", value.last or (Absent("no such line") if value.started else unread)
