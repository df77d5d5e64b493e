"""What each NVMe drive says of its own health."""

from rackcheck import Class, Facts, Shell, integer, probe, quantity, spell_key
from rackcheck.model import text as read
from rackcheck.parse.host.storage import nvme

CONTROLLERS = "/sys/class/nvme/nvme[0-9] /sys/class/nvme/nvme[0-9][0-9]"
COUNTS: dict[str, nvme.LogField] = {
    "critical_warning": (("critical_warning",), int),
    "spare": (("avail_spare", "available_spare"), float),
    "spare_threshold": (("spare_thresh", "available_spare_threshold"), float),
    "used": (("percent_used", "percentage_used"), float),
    "temperature": (("temperature",), nvme.celsius),
    "media_errors": (("media_errors",), int),
    "error_log_entries": (("num_err_log_entries",), int),
    "unsafe_shutdowns": (("unsafe_shutdowns",), int),
    "power_cycles": (("power_cycles",), int),
    "power_on": (("power_on_hours",), float),
    "written": (("data_units_written",), lambda units: units * 512e3 / 1e12),
    "time_too_hot": (("warning_temp_time",), float),
    "time_critical": (("critical_comp_time",), float),
}
"""By fact, the names of nvme-cli's versions; a data unit is 1000 times 512 bytes."""


@probe(
    Shell("nvme smart-log -o json /dev/{}", each=CONTROLLERS, root=True, seconds=30),
    gives={
        "nvme/*.health.critical_warning": integer(
            "Bits of what is wrong: 1 spare, 2 temperature, 4 reliability, 8 read-only, 16 backup of its cache.",
            Class.MEASUREMENT,
        ),
        "nvme/*.health.spare": quantity("%", "Spare blocks that are left.", Class.MEASUREMENT),
        "nvme/*.health.spare_threshold": quantity("%", "The share of spare below which the drive warns."),
        "nvme/*.health.used": quantity("%", "Wear: the share of its rated life; may exceed 100.", Class.MEASUREMENT),
        "nvme/*.health.temperature": quantity("C", "The drive's composite temperature.", Class.MEASUREMENT),
        "nvme/*.health.media_errors": integer("Errors of data that the drive could not correct.", Class.COUNTER),
        "nvme/*.health.error_log_entries": integer(
            "Entries of its error log over its life; refused commands count too.", Class.COUNTER
        ),
        "nvme/*.health.unsafe_shutdowns": integer("Losses of power without notice.", Class.COUNTER),
        "nvme/*.health.power_cycles": integer("How often it was switched on.", Class.COUNTER),
        "nvme/*.health.power_on": quantity("h", "How long it has been on.", Class.COUNTER),
        "nvme/*.health.written": quantity("TB", "Data that hosts wrote to it.", Class.COUNTER),
        "nvme/*.health.time_too_hot": quantity("min", "Time above its warning temperature.", Class.COUNTER),
        "nvme/*.health.time_critical": quantity("min", "Time above its critical temperature.", Class.COUNTER),
    },
)
def nvme_health(answer: str) -> Facts:
    """Read each controller's SMART log."""
    for name, value in read.each(answer).items():
        for leaf, reading in nvme.counts(value, COUNTS).items():
            yield f"nvme/{spell_key(name)}.health.{leaf}", reading
