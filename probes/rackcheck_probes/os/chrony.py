"""How well chrony keeps the clock."""

from rackcheck import Absent, Class, Facts, Shell, integer, probe, quantity, text
from rackcheck.model import text as read
from rackcheck.parse.host.os import chronyc

NONE = "no chronyc"


@probe(
    Shell(f"if command -v chronyc >/dev/null; then chronyc -n tracking; else echo '{NONE}'; fi", ok=(0, 1)),
    gives={
        "time.chrony.reference": text(
            "What chrony follows: a server's address, or a clock's name; absent while it follows nothing.",
            Class.MEASUREMENT,
        ),
        "time.chrony.stratum": integer("Steps to the clock at the root; absent while it follows nothing.",
                                       Class.MEASUREMENT),
        "time.chrony.leap": text("Normal, Insert second, Delete second, or Not synchronised."),
        "time.chrony.offset": quantity(
            "s", "This clock less the time that chrony holds for right; below zero it is slow.", Class.MEASUREMENT
        ),
        "time.chrony.last_offset": quantity("s", "The offset that the last update found.", Class.MEASUREMENT),
        "time.chrony.rms_offset": quantity("s", "The offset's average over a long time.", Class.MEASUREMENT),
        "time.chrony.root_delay": quantity("s", "The way to the clock at the root and back.", Class.MEASUREMENT),
        "time.chrony.root_dispersion": quantity("s", "The error gathered on that way.", Class.MEASUREMENT),
    },
)  # fmt: skip
def chrony(answer: str) -> Facts:
    """Read chronyc's table; every fact is absent where chrony is not installed."""
    rows = read.rows(answer)
    missing = dict.fromkeys(chronyc.LEAVES, Absent("chrony is not installed"))
    value = missing.items() if rows == [NONE] else chronyc.tracking(rows).facts()
    yield from ((f"time.chrony.{leaf}", reading) for leaf, reading in value)
