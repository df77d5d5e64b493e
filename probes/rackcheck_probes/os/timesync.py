"""Whether the clock is kept synchronized."""

from rackcheck import Class, Facts, Shell, flag, probe, quantity, read, text
from rackcheck.parse.host.os import timedatectl


@probe(
    Shell("timedatectl", lane="systemd"),
    gives={
        "time.synchronized": flag("Whether a time service keeps the kernel's clock synchronized."),
        "time.ntp_enabled": flag("Whether systemd's time service is enabled; absent if systemd has no time service."),
        "time.rtc_local": flag("Whether the hardware clock keeps local time, which daylight saving time disturbs."),
        "time.rtc_ahead": quantity(
            "s",
            "The hardware clock minus the node's clock, both read in whole seconds; negative if the hardware clock is "
            "behind.",
            Class.MEASUREMENT,
        ),
        "time.zone": text("The time zone: Etc/UTC, America/Los_Angeles."),
    },
)
def timesync(answer: str) -> Facts:
    """Read timedatectl's output."""
    yield from ((f"time.{leaf}", reading) for leaf, reading in timedatectl.clock(read.rows(answer)))
