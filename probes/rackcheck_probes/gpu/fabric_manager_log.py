"""Errors in the Fabric Manager's log since its last start.

Only the newest 4 MiB of the log are searched, on the node, because the log may be a gigabyte large. The number of
errors is unknown if the newest 4 MiB of the log do not contain the Fabric Manager's last start, or if the log was
rotated since that start.
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
        "log.fabric_manager.errors": integer(
            "Errors that the Fabric Manager logged since its last start.", Class.COUNTER
        ),
        "log.fabric_manager.warnings": integer(
            "Warnings that the Fabric Manager logged since its last start.", Class.COUNTER
        ),
        "log.fabric_manager.fatal": integer(
            "Lines of levels FATAL and CRITICAL, or about fatal errors of NVSwitches or NVLinks, since the last start.",
            Class.COUNTER,
        ),
        "log.fabric_manager.failures": integer(
            "Errors since the last start, without those logged as non-fatal NVSwitch errors.", Class.COUNTER
        ),
        "log.fabric_manager.sxids": listing(
            "NVSwitch errors, fatal or not, that the Fabric Manager logged since its last start, by number.",
            Class.COUNTER,
        ),
        "log.fabric_manager.last": text(
            "The last error or warning since the last start, without its time; absent if there is none.",
            Class.MEASUREMENT,
        ),
    },
)
def fabric_manager_log(answer: str) -> Facts:
    """Count the errors and warnings that were logged after the last start of the Fabric Manager."""
    value = log(answer)
    unread = Unknown(
        Reason.NOT_READ_FURTHER, f"no start in the log's newest {NEWEST} bytes; the log has {value.size} bytes"
    )
    yield "log.fabric_manager.errors", value.errors if value.started else unread
    yield "log.fabric_manager.warnings", value.warnings if value.started else unread
    yield "log.fabric_manager.fatal", value.fatal if value.started else unread
    yield "log.fabric_manager.failures", value.failures if value.started else unread
    yield "log.fabric_manager.sxids", tuple(str(code) for code in value.sxids) if value.started else unread
    yield (
        "log.fabric_manager.last",
        value.last or (Absent("no error or warning since the last start") if value.started else unread),
    )
