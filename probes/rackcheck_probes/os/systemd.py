"""State of systemd itself: failed units, boot target, and default limits of services."""

from rackcheck import Absent, Class, Facts, Shell, Unreadable, integer, listing, probe, quantity, read, text, version
from rackcheck.parse.host.os import systemctl

TARGET, FAILED, END = "-- target --", "-- failed --", "-- end --"


@probe(
    Shell(
        "systemctl --no-pager show -p Version,SystemState,DefaultLimitMEMLOCK,DefaultLimitNOFILE && "
        f"echo '{TARGET}' && systemctl get-default && echo '{FAILED}' && "
        f"systemctl --no-pager --no-legend --plain --all --state=failed list-units && echo '{END}'",
        lane="systemd",
    ),
    gives={
        "os.systemd.version": version("opaque", "systemd's version, as the distribution built it."),
        "os.systemd.state": text(
            "State of the whole system: running, degraded (a unit failed), starting.", Class.MEASUREMENT
        ),
        "os.systemd.failed": listing(
            "Units that failed, by their full name; without those of a login, such as sshd@ and scopes.",
            Class.MEASUREMENT,
        ),
        "os.systemd.target": text("The target that the system boots into: multi-user.target, graphical.target."),
        "os.systemd.limits.memlock": quantity(
            "KiB", "Memory that a service's process may pin unless its unit overrides it.", unlimited=True
        ),
        "os.systemd.limits.nofile": integer(
            "Files that a service's process may have open unless its unit overrides it.", unlimited=True
        ),
    },
)
def systemd(answer: str) -> Facts:
    """Read the properties of systemd itself, the default target, and the list of failed units."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END or TARGET not in rows or FAILED not in rows:
        raise Unreadable("the output was truncated")
    items, target, failed = rows[: rows.index(TARGET)], rows[rows.index(TARGET) + 1], rows[rows.index(FAILED) + 1 : -1]
    shown = dict(row.partition("=")[::2] for row in items)
    for leaf, name in (("version", "Version"), ("state", "SystemState")):
        yield f"os.systemd.{leaf}", shown.get(name) or Absent("this version of systemd does not report this value")
    yield "os.systemd.target", read.line(target) if target != FAILED else Absent("no default target")
    # Before systemd 246, a mark precedes a failed unit with any options.
    names = [words[0] for row in failed if (words := row.lstrip("●* ").split(maxsplit=1))]
    yield "os.systemd.failed", tuple(sorted(name for name in names if not systemctl.of_a_login(name)))
    yield "os.systemd.limits.memlock", systemctl.limit_in_kib(shown.get("DefaultLimitMEMLOCK"))
    yield "os.systemd.limits.nofile", systemctl.limit(shown.get("DefaultLimitNOFILE"))
