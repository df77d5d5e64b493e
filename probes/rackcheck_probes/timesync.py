"""Whether the clock is kept right."""

from rackcheck import Absent, Facts, Shell, Unreadable, flag, probe, text
from rackcheck.core import read

SYNCHRONIZED = ("System clock synchronized", "NTP synchronized")
ENABLED = {"NTP service": "active", "systemd-timesyncd.service active": "yes", "NTP enabled": "yes"}
RTC = "RTC in local TZ"
NO = {"active": "inactive", "yes": "no"}


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
    """Read timedatectl in the words of systemd 219, 237 and 239."""
    table = read.key_values("\n".join(read.rows(answer)))
    said = next((table[key] for key in SYNCHRONIZED if key in table), None)
    if said is None or "Time zone" not in table:
        raise Unreadable("not the words of timedatectl: no 'synchronized', or no 'Time zone'")
    yield "time.synchronized", read.flag(said, yes="yes", no="no")
    yield "time.zone", table["Time zone"].partition(" ")[0] or Absent("none is set")
    if RTC in table:
        yield "time.rtc_local", read.flag(table[RTC], yes="yes", no="no")
    for key, yes in ENABLED.items():
        if key in table:
            none = Absent("systemd knows no time service")
            yield "time.ntp_enabled", none if table[key] == "n/a" else read.flag(table[key], yes=yes, no=NO[yes])
