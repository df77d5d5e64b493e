"""The time that the kernel's log spans, and how many messages the kernel suppressed."""

from rackcheck import Absent, Class, Facts, integer, probe, quantity
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck_probes.kernel_log.kernel_log import DMESG

NO_TIME = Absent("the log lines contain no times since boot")


@probe(
    DMESG,
    gives={
        "log.kernel.begins": quantity(
            "s", "Time from boot to the kernel log's oldest line; absent if lines have no times.", Class.MEASUREMENT
        ),
        "log.kernel.ends": quantity(
            "s", "Time from boot to the kernel log's newest line; absent if lines have no times.", Class.MEASUREMENT
        ),
        "log.kernel.lines": integer("Lines in the kernel's log.", Class.COUNTER),
        "log.kernel.suppressed": integer(
            "Messages that the kernel suppressed because there were too many similar messages.", Class.COUNTER
        ),
    },
)
def log_span(answer: str) -> Facts:
    """Read the first and the last line, and the lines about suppressed messages."""
    dmesg.whole(answer)
    first, last = dmesg.span(answer)
    yield "log.kernel.begins", NO_TIME if first is None else first
    yield "log.kernel.ends", NO_TIME if last is None else last
    yield "log.kernel.lines", answer.count("\n")
    yield "log.kernel.suppressed", dmesg.kept_back(answer)
