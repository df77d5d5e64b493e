"""How accurate the clock is according to systemd-timesyncd."""

from rackcheck import Absent, Class, Facts, Shell, integer, probe, quantity, read, text
from rackcheck.parse.host.os import timedatectl

NONE = "systemd-timesyncd does not run"


# A query over its bus would start a stopped service: it is only queried if it runs.
@probe(
    Shell(
        "systemctl is-active --quiet systemd-timesyncd; r=$?; case $r in 0) timedatectl timesync-status ;; "
        f"3|4) echo '{NONE}' ;; *) exit $r ;; esac",
        lane="systemd",
    ),
    gives={
        "time.timesyncd.server": text("The time server that systemd-timesyncd uses.", Class.MEASUREMENT),
        "time.timesyncd.stratum": integer(
            "The server's stratum: the number of its steps to the root clock.", Class.MEASUREMENT
        ),
        "time.timesyncd.leap": text("The server's leap second state: normal, or not synchronized."),
        "time.timesyncd.offset": quantity("s", "The server's clock minus this node's clock.", Class.MEASUREMENT),
        "time.timesyncd.delay": quantity("s", "Round-trip time to the server.", Class.MEASUREMENT),
        "time.timesyncd.jitter": quantity("s", "How much the offset varies.", Class.MEASUREMENT),
        "time.timesyncd.root_distance": quantity("s", "The maximum error that the server reports.", Class.MEASUREMENT),
    },
)
def timesyncd(answer: str) -> Facts:
    """Read timedatectl's table; before the server's first reply, the table contains only the server's name."""
    rows = read.rows(answer)
    stopped = dict.fromkeys(timedatectl.LEAVES, Absent("systemd-timesyncd does not run"))
    value = stopped.items() if rows == [NONE] else timedatectl.status(rows).facts()
    yield from ((f"time.timesyncd.{leaf}", reading) for leaf, reading in value)
