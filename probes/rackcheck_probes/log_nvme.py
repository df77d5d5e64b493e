"""NVMe controllers that did not answer."""

from rackcheck import Facts, collection, probe
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck_probes.kernel_log import DMESG

KINDS = (
    line(
        "timeouts",
        " timeout, ",
        r"nvme (?P<key>nvme[0-9]{1,4}): (?:I/O|Abort|Admin) .{0,100}\btimeout, ",
        "Requests that the controller did not answer in time.",
    ),
    line(
        "disabled",
        "Disabling device after reset failure",
        r"nvme (?P<key>nvme[0-9]{1,4}): Disabling device after reset failure",
        "Lines that say that the controller was given up.",
    ),
    line("disabled", "Removing after probe failure", r"nvme (?P<key>nvme[0-9]{1,4}): Removing after probe failure"),
    line(
        "not_ready",
        "Device not ready; aborting",
        r"nvme (?P<key>nvme[0-9]{1,4}): Device not ready; aborting",
        "Lines that say that the controller did not come back from a reset, or is down.",
    ),
    line(
        "not_ready", "controller is down; will reset", r"nvme (?P<key>nvme[0-9]{1,4}): controller is down; will reset"
    ),
)


@probe(
    DMESG,
    gives={
        "log.kernel.nvme": collection(
            "NVMe controllers that did not answer in time, by name; empty without such a line."
        ),
        **dmesg.promised("log.kernel.nvme/*", KINDS),
    },
)
def log_nvme(answer: str) -> Facts:
    """Count the lines of each device; the ring's older lines are gone."""
    yield from dmesg.of_each("log.kernel.nvme", answer, KINDS)
