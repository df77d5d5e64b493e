"""What stretch of time the kernel's log spans, and how much the kernel kept back."""

from rackcheck import Absent, Class, Facts, integer, probe, quantity
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck_probes.kernel_log.kernel_log import DMESG

NO_TIME = Absent("the lines bear no seconds since boot")


@probe(
    DMESG,
    gives={
        "log.kernel.begins": quantity(
            "s", "Time after boot of the oldest line in the kernel's log; absent if lines bear none.", Class.MEASUREMENT
        ),
        "log.kernel.ends": quantity(
            "s", "Time after boot of the newest line in the kernel's log; absent if lines bear none.", Class.MEASUREMENT
        ),
        "log.kernel.lines": integer("Lines in the kernel's log.", Class.COUNTER),
        "log.kernel.suppressed": integer(
            "Messages that the kernel kept back because there were too many like them.", Class.COUNTER
        ),
    },
)
def log_span(answer: str) -> Facts:
    """Read the first and the last line, and those that tell of messages kept back."""
    dmesg.whole(answer)
    first, last = dmesg.span(answer)
    yield "log.kernel.begins", NO_TIME if first is None else first
    yield "log.kernel.ends", NO_TIME if last is None else last
    yield "log.kernel.lines", answer.count("\n")
    yield "log.kernel.suppressed", dmesg.kept_back(answer)
