"""How well systemd-timesyncd keeps the clock."""

from rackcheck import Absent, Class, Facts, Shell, integer, probe, quantity, text
from rackcheck.model import text as read
from rackcheck.parse.host.os import timedatectl

NONE = "systemd-timesyncd does not run"


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
    stopped = dict.fromkeys(timedatectl.LEAVES, Absent("it does not run"))
    value = stopped.items() if rows == [NONE] else timedatectl.status(rows).facts()
    yield from ((f"time.timesyncd.{leaf}", reading) for leaf, reading in value)
