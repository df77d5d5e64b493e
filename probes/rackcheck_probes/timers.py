"""Which timers wait: updates, scrubs and other work that comes by itself."""

from rackcheck import Facts, Shell, Unreadable, collection, probe, spell_key, text
from rackcheck.core import read

FILES, END = "-- unit files --", "-- end --"
SUFFIX = ".timer"


def words(row: str) -> list[str]:
    """Part a row of a list of units; before systemd 246 a mark may stand before the name."""
    found = row.lstrip("●* ").split()
    if len(found) < 2 or not found[0].endswith(SUFFIX):
        raise Unreadable(f"not a timer: {row[:80]!r}")
    return found


@probe(
    Shell(
        "systemctl --no-pager --no-legend --plain --all --type=timer list-units && "
        f"echo '{FILES}' && systemctl --no-pager --no-legend --type=timer list-unit-files && echo '{END}'",
        lane="systemd",
    ),
    gives={
        "os.timer": collection("systemd's timers, loaded or with a file, by name without `.timer`."),
        "os.timer/*.active": text("Whether it waits: active, inactive, failed."),
        "os.timer/*.enabled": text("Whether it starts at boot: enabled, disabled, static, masked."),
    },
)
def timers(answer: str) -> Facts:
    """Read the loaded timers and the files of all; one that is not loaded is inactive."""
    rows = [row for row in read.rows(answer) if row.strip()]
    if not rows or rows[-1] != END or FILES not in rows:
        raise Unreadable("the answer was cut")
    active = {}
    for row in rows[: rows.index(FILES)]:
        found = words(row)
        if len(found) < 4:
            raise Unreadable(f"not a unit: {row[:80]!r}")
        if found[1] != "not-found":
            active[found[0]] = found[2]
    enabled = {name: state for name, state, *_ in map(words, rows[rows.index(FILES) + 1 : -1]) if state != "alias"}
    for name in sorted(active.keys() | enabled.keys()):
        if not name.endswith(f"@{SUFFIX}"):
            item = f"os.timer/{spell_key(name.removesuffix(SUFFIX))}"
            yield f"{item}.active", active.get(name, "inactive")
            yield f"{item}.enabled", enabled.get(name, "transient")
