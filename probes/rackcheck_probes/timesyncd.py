"""How well systemd-timesyncd keeps the clock."""

import re

from rackcheck import Absent, Class, Facts, Shell, Unreadable, integer, probe, quantity, text
from rackcheck.core import read

NONE = "systemd-timesyncd does not run"
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
PART = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(us|ms|s|min|h)")
SPANS = {"offset": "Offset", "delay": "Delay", "jitter": "Jitter", "root_distance": "Root distance"}


def span(told: str) -> float:
    """Read `8min 32s`, `-5.224ms` or `91us (max: 5s)` in seconds."""
    words = told.partition(" (")[0].split()
    sign = -1.0 if words[:1] and words[0].startswith("-") else 1.0
    parts = [PART.fullmatch(word.lstrip("+-")) for word in words]
    if not parts or None in parts:
        raise Unreadable(f"not a time: {told[:80]!r}")
    return round(sign * sum(float(part[1]) * UNITS[part[2]] for part in parts if part), 9) + 0.0  # not -0


# Its bus would start the service where it only could run: it is asked only where it does.
@probe(
    Shell(
        "systemctl is-active --quiet systemd-timesyncd; r=$?; case $r in 0) timedatectl timesync-status ;; "
        f"3|4) echo '{NONE}' ;; *) exit $r ;; esac",
        lane="systemd",
    ),
    gives={
        "time.timesyncd.server": text("The server that it asks.", Class.MEASUREMENT),
        "time.timesyncd.stratum": integer("The server's steps to the clock at the root.", Class.MEASUREMENT),
        "time.timesyncd.leap": text("What the server says of leap seconds: normal, or not synchronized."),
        "time.timesyncd.offset": quantity("s", "The server's clock less this one.", Class.MEASUREMENT),
        "time.timesyncd.delay": quantity("s", "The way to the server and back.", Class.MEASUREMENT),
        "time.timesyncd.jitter": quantity("s", "How much the offset varies.", Class.MEASUREMENT),
        "time.timesyncd.root_distance": quantity("s", "The error that the server admits.", Class.MEASUREMENT),
    },
)
def timesyncd(answer: str) -> Facts:
    """Read timedatectl's table; before a server's first answer it has no more than the server's name."""
    rows = read.rows(answer)
    if rows == [NONE]:
        leaves = ("server", "stratum", "leap", *SPANS)
        yield from ((f"time.timesyncd.{leaf}", Absent("it does not run")) for leaf in leaves)
        return
    table = read.key_values("\n".join(rows))
    if "Server" not in table:
        raise Unreadable("not the words of timedatectl: no 'Server'")
    silent = Absent("no server has answered yet")
    yield "time.timesyncd.server", table["Server"].partition(" ")[0] or Absent("none is set")
    yield "time.timesyncd.stratum", read.whole(table["Stratum"]) if "Stratum" in table else silent
    yield "time.timesyncd.leap", table.get("Leap") or silent
    for leaf, key in SPANS.items():
        yield f"time.timesyncd.{leaf}", span(table[key]) if key in table else silent
