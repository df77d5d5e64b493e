"""Timers of systemd, which start updates, scrubs and other work automatically."""

from rackcheck import Facts, Shell, Unreadable, collection, probe, read, spell_key, text
from rackcheck.parse.host.os import systemctl

FILES, END = "-- unit files --", "-- end --"


@probe(
    Shell(
        "systemctl --no-pager --no-legend --plain --all --type=timer list-units && "
        f"echo '{FILES}' && systemctl --no-pager --no-legend --type=timer list-unit-files && echo '{END}'",
        lane="systemd",
    ),
    gives={
        "os.timer": collection("systemd's timers, loaded or with a file, by name without `.timer`."),
        "os.timer/*.active": text("Whether the timer waits: active, inactive, failed."),
        "os.timer/*.enabled": text("Whether the timer starts at boot: enabled, disabled, static, masked."),
    },
)
def timers(answer: str) -> Facts:
    """Read the loaded timers and the files of all timers; a timer that is not loaded is inactive."""
    rows = [row for row in read.rows(answer) if row.strip()]
    if not rows or rows[-1] != END or FILES not in rows:
        raise Unreadable("the output was truncated")
    middle = rows.index(FILES)
    for timer in systemctl.timers(rows[:middle], rows[middle + 1 : -1]):
        item = f"os.timer/{spell_key(timer.name)}"
        yield f"{item}.active", timer.active
        yield f"{item}.enabled", timer.enabled
