"""Whether the clock is kept right."""

from rackcheck import Facts, Shell, flag, probe, text
from rackcheck.model import text as read
from rackcheck.parse.host.os import timedatectl


@probe(
    Shell("timedatectl", lane="systemd"),
    gives={
        "time.synchronized": flag("Whether the kernel's clock is being kept in step by some time service."),
        "time.ntp_enabled": flag("Whether the time service that systemd knows is on; absent if it knows none."),
        "time.rtc_local": flag("Whether the hardware clock keeps local time, which changes of summer time confuse."),
        "time.zone": text("The time zone: Etc/UTC, America/Los_Angeles."),
    },
)
def timesync(answer: str) -> Facts:
    """Read what timedatectl says."""
    yield from ((f"time.{leaf}", reading) for leaf, reading in timedatectl.clock(read.rows(answer)))
