"""How systemd itself stands: its state, what failed, what it boots into, and what its services get by default."""

import math

from rackcheck import Absent, Class, Facts, Shell, Unreadable, integer, listing, probe, quantity, text, version
from rackcheck.core import read
from rackcheck.core.fact import Reading

TARGET, FAILED, END = "-- target --", "-- failed --", "-- end --"
ALL_ONES = str(2**64 - 1)
"""How systemd before 229 writes infinity."""


def limit(value: str | None) -> float | Absent:
    """Read a limit of systemd: a number, or infinity."""
    if not value:
        return Absent("this systemd does not tell")
    return math.inf if value in {"infinity", ALL_ONES} else read.whole(value)


def in_kib(size: float | Absent) -> Reading:
    """Give a limit in bytes as KiB."""
    return size if isinstance(size, Absent) else size / 1024


@probe(
    Shell(
        "systemctl --no-pager show -p Version,SystemState,DefaultLimitMEMLOCK,DefaultLimitNOFILE && "
        f"echo '{TARGET}' && systemctl get-default && echo '{FAILED}' && "
        f"systemctl --no-pager --no-legend --plain --all --state=failed list-units && echo '{END}'",
        lane="systemd",
    ),
    gives={
        "os.systemd.version": version("opaque", "systemd's version, as the distribution built it."),
        "os.systemd.state": text("The whole system: running, degraded (a unit failed), starting.", Class.MEASUREMENT),
        "os.systemd.failed": listing("Units that failed, by their full name.", Class.MEASUREMENT),
        "os.systemd.target": text("What the system boots into: multi-user.target, graphical.target."),
        "os.systemd.limits.memlock": quantity(
            "KiB", "Memory that a service's process may pin unless its unit says otherwise.", unlimited=True
        ),
        "os.systemd.limits.nofile": integer(
            "Files that a service's process may have open unless its unit says otherwise.", unlimited=True
        ),
    },
)
def systemd(answer: str) -> Facts:
    """Read the manager's properties, the default target, and the list of failed units."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END or TARGET not in rows or FAILED not in rows:
        raise Unreadable("the answer was cut")
    told, target, failed = rows[: rows.index(TARGET)], rows[rows.index(TARGET) + 1], rows[rows.index(FAILED) + 1 : -1]
    shown = dict(row.partition("=")[::2] for row in told)
    for leaf, name in (("version", "Version"), ("state", "SystemState")):
        yield f"os.systemd.{leaf}", shown.get(name) or Absent("this systemd does not tell")
    yield "os.systemd.target", read.line(target) if target != FAILED else Absent("no default target")
    # Before 246 a mark stands before a failed unit, whatever was asked.
    names = [row.lstrip("●* ").split(maxsplit=1)[0] for row in failed if row.strip("●* ")]
    yield "os.systemd.failed", tuple(sorted(names))
    yield "os.systemd.limits.memlock", in_kib(limit(shown.get("DefaultLimitMEMLOCK")))
    yield "os.systemd.limits.nofile", limit(shown.get("DefaultLimitNOFILE"))
