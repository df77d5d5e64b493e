"""Running services, and services that start at boot."""

from rackcheck import Absent, Class, Facts, Shell, Unreadable, collection, probe, read, spell_key, text
from rackcheck.parse.host.os import systemctl

FILES = "-- unit files --"
PROPERTIES = ("Id", "Names", "LoadState", "ActiveState", "SubState", "UnitFileState")


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
        "service/*.active": text("The service's state in systemd: active, inactive, failed, activating."),
        "service/*.state": text(
            "The service's state in detail: running, exited, dead, auto-restart.", Class.MEASUREMENT
        ),
        "service/*.enabled": text(
            "Whether the service starts at boot: enabled, disabled, static, masked; absent without a unit file."
        ),
    },
)
def services(answer: str) -> Facts:
    """Read the loaded services, then the files of inactive services; templates and aliases are skipped."""
    rows = read.rows(answer)
    if FILES not in rows:
        raise Unreadable(f"no {FILES!r}: the output was truncated")
    names: set[str] = set()
    for unit in systemctl.units(rows[: rows.index(FILES)], PROPERTIES):
        names.update(unit["Names"].split(), {unit["Id"]})
        if (name := systemctl.service(unit)) is not None:
            item = f"service/{spell_key(name)}"
            yield f"{item}.active", unit["ActiveState"] or Absent("systemd reports no state")
            yield f"{item}.state", unit["SubState"] or Absent("systemd reports no state")
            yield f"{item}.enabled", unit["UnitFileState"] or Absent("no unit file")
    for file, enabled in systemctl.service_files(rows[rows.index(FILES) + 1 :]):
        if file not in names:
            item = f"service/{spell_key(file.removesuffix('.service'))}"
            yield f"{item}.active", "inactive"
            yield f"{item}.state", "dead"
            yield f"{item}.enabled", enabled
