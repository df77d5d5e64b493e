"""Processors throttled because of heat, and zones that reached their critical temperature."""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg import line
from rackcheck_probes.kernel_log.kernel_log import DMESG

KINDS = (
    line(
        "throttled",
        " above threshold",
        r"(?:mce: )?CPU ?[0-9]{1,5}: (?:Core|Package) temperature(?:/speed)?(?: is)? above threshold",
        "Lines about processors whose core or package was too hot and was slowed down.",
    ),
    line(
        "critical",
        "critical temperature reached",
        r"(?:thermal thermal_zone[0-9]{1,4}|(?:thermal thermal_zone[0-9]{1,4}: )?[\w-]{1,40}): "
        r"critical temperature reached",
        "Lines about zones that reached their critical temperature.",
    ),
)


@probe(
    DMESG,
    gives=dmesg.promised("log.kernel.thermal", KINDS),
)
def log_thermal(answer: str) -> Facts:
    """Count the log lines of each kind; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_all("log.kernel.thermal", answer, KINDS)
