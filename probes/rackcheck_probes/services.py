"""Which services run, and which start at boot."""

from collections.abc import Iterator

from rackcheck import Absent, Class, Facts, Shell, Unreadable, collection, probe, spell_key, text
from rackcheck.core import read

FILES = "-- unit files --"
PROPERTIES = ("Id", "Names", "LoadState", "ActiveState", "SubState", "UnitFileState")
OF_LOGINS = ("user@", "user-runtime-dir@", "sshd@")
"""What every login starts, ours too."""


def units(rows: list[str]) -> Iterator[dict[str, str]]:
    """Part `systemctl show` into its units."""
    block: dict[str, str] = {}
    for row in (*rows, ""):
        key, _, value = row.partition("=")
        if row:
            block[key] = value
        elif block:
            missing = [name for name in PROPERTIES if name not in block]
            if missing:
                raise Unreadable(f"{block.get('Id', 'a unit')} without {', '.join(missing)}")
            yield block
            block = {}


@probe(
    Shell(
        f"systemctl --no-pager --all show -p {','.join(PROPERTIES)} '*.service' && echo && echo '{FILES}' && "
        "systemctl --no-pager --no-legend list-unit-files --type=service",
        seconds=20,
        lane="systemd",
        cap=4 << 20,
    ),
    gives={
        "service": collection("Services that systemd has loaded or has a file for, by name without `.service`."),
        "service/*.active": text("What systemd says it is: active, inactive, failed, activating."),
        "service/*.state": text("What it does in detail: running, exited, dead, auto-restart.", Class.MEASUREMENT),
        "service/*.enabled": text(
            "Whether it starts at boot: enabled, disabled, static, masked; absent if it has no file."
        ),
    },
)
def services(answer: str) -> Facts:
    """Read the loaded services, then the files of the others, which are inactive; no templates, no aliases."""
    rows = read.rows(answer)
    if FILES not in rows:
        raise Unreadable(f"no {FILES!r}: the answer was cut")
    names: set[str] = set()
    for unit in units(rows[: rows.index(FILES)]):
        names.update(unit["Names"].split(), {unit["Id"]})
        gone = unit["LoadState"] == "not-found" and unit["ActiveState"] == "inactive"
        if not gone and unit["Id"].endswith(".service") and not unit["Id"].startswith(OF_LOGINS):
            item = f"service/{spell_key(unit['Id'].removesuffix('.service'))}"
            yield f"{item}.active", unit["ActiveState"] or Absent("systemd gives no state")
            yield f"{item}.state", unit["SubState"] or Absent("systemd gives no state")
            yield f"{item}.enabled", unit["UnitFileState"] or Absent("no unit file")
    for row in rows[rows.index(FILES) + 1 :]:
        name, _, state = row.strip().partition(" ")
        if not name.endswith(".service") or not state.strip():
            raise Unreadable(f"not a unit file and its state: {row[:80]!r}")
        if (
            name not in names
            and not name.endswith("@.service")
            and not name.startswith(OF_LOGINS)
            and state.split()[0] != "alias"
        ):
            item = f"service/{spell_key(name.removesuffix('.service'))}"
            yield from (
                (f"{item}.active", "inactive"),
                (f"{item}.state", "dead"),
                (f"{item}.enabled", state.split()[0]),
            )
