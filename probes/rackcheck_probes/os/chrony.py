"""How accurate the clock is according to chrony."""

from rackcheck import Absent, Class, Facts, Shell, integer, probe, quantity, read, text
from rackcheck.parse.host.os import chronyc

NONE = "no chronyc"


@probe(
    Shell(f"if command -v chronyc >/dev/null; then chronyc -n tracking; else echo '{NONE}'; fi", ok=(0, 1)),
    gives={
        "time.chrony.reference": text(
            "The source that chrony follows: a server's address, a clock's name, or `the node's own clock`; absent "
            "without a source.",
            Class.MEASUREMENT,
        ),
        "time.chrony.stratum": integer("Stratum: the number of steps to the root clock; absent without a source.",
                                       Class.MEASUREMENT),
        "time.chrony.leap": text("Normal, Insert second, Delete second, or Not synchronised."),
        "time.chrony.offset": quantity(
            "s",
            "The node's clock minus chrony's estimate of the true time; negative if the clock is behind.",
            Class.MEASUREMENT,
        ),
        "time.chrony.last_offset": quantity("s", "The offset that the last update found.", Class.MEASUREMENT),
        "time.chrony.rms_offset": quantity("s", "The offset's long-term average.", Class.MEASUREMENT),
        "time.chrony.root_delay": quantity("s", "Round-trip time to the root clock.", Class.MEASUREMENT),
        "time.chrony.root_dispersion": quantity(
            "s", "The error accumulated on the path to the root clock.", Class.MEASUREMENT
        ),
    },
)  # fmt: skip
def chrony(answer: str) -> Facts:
    """Read chronyc's table; every fact is absent where chrony is not installed."""
    rows = read.rows(answer)
    missing = dict.fromkeys(chronyc.LEAVES, Absent("chrony is not installed"))
    value = missing.items() if rows == [NONE] else chronyc.tracking(rows).facts()
    yield from ((f"time.chrony.{leaf}", reading) for leaf, reading in value)
