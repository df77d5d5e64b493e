"""Each NVMe drive's own health data."""

from rackcheck import Class, Facts, Shell, integer, probe, quantity, read, spell_key
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
"""Maps each fact to a field's names in versions of nvme-cli, and to a conversion; a data unit is 512000 bytes."""


@probe(
    Shell("nvme smart-log -o json /dev/{}", each=CONTROLLERS, root=True, seconds=30),
    gives={
        "nvme/*.health.critical_warning": integer(
            "Critical warning bits: 1 spare, 2 temperature, 4 reliability, 8 read-only, 16 backup of the cache.",
            Class.MEASUREMENT,
        ),
        "nvme/*.health.spare": quantity("%", "Spare blocks that are left.", Class.MEASUREMENT),
        "nvme/*.health.spare_threshold": quantity("%", "The share of spare blocks below which the drive warns."),
        "nvme/*.health.used": quantity(
            "%", "Wear: the used share of the drive's rated life; may exceed 100.", Class.MEASUREMENT
        ),
        "nvme/*.health.temperature": quantity("C", "The drive's composite temperature.", Class.MEASUREMENT),
        "nvme/*.health.media_errors": integer("Data errors that the drive could not correct.", Class.COUNTER),
        "nvme/*.health.error_log_entries": integer(
            "Entries in the drive's error log over its lifetime, including entries for rejected commands.",
            Class.COUNTER,
        ),
        "nvme/*.health.unsafe_shutdowns": integer("Power losses without shutdown.", Class.COUNTER),
        "nvme/*.health.power_cycles": integer("The number of times that the drive was powered on.", Class.COUNTER),
        "nvme/*.health.power_on": quantity("h", "Power-on time.", Class.COUNTER),
        "nvme/*.health.written": quantity("TB", "Data that hosts wrote to the drive.", Class.COUNTER),
        "nvme/*.health.time_too_hot": quantity("min", "Time above the drive's warning temperature.", Class.COUNTER),
        "nvme/*.health.time_critical": quantity("min", "Time above the drive's critical temperature.", Class.COUNTER),
    },
)
def nvme_health(answer: str) -> Facts:
    """Read each controller's SMART log."""
    for name, value in read.each(answer).items():
        for leaf, reading in nvme.counts(value, COUNTS).items():
            yield f"nvme/{spell_key(name)}.health.{leaf}", reading
