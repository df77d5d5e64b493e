"""How accurate the clock is according to ntpd."""

from rackcheck import Absent, Class, Facts, Shell, integer, probe, quantity, read, text
from rackcheck.parse.host.os import ntpq

MILLISECONDS = {"offset": "offset", "jitter": "sys_jitter", "root_delay": "rootdelay", "root_dispersion": "rootdisp"}


# Unverified on hardware: the words are those of ntp 4.2.6 to 4.2.8 and ntpsec 1.2 in public listings.
@probe(
    Shell(f"if command -v ntpq >/dev/null; then ntpq -n -c rv 2>&1; else echo '{ntpq.NONE}'; fi", ok=(0, 1)),
    gives={
        "time.ntpd.reference": text(
            "The source that ntpd follows: a server's address, a clock's name, or `the node's own clock`.",
            Class.MEASUREMENT,
        ),
        "time.ntpd.stratum": integer(
            "Stratum: the number of steps to the root clock; 16 without a source.", Class.MEASUREMENT
        ),
        "time.ntpd.leap": text("Leap second: none, insert or delete; or unsynchronized.", words=ntpq.LEAP.values()),
        "time.ntpd.offset": quantity("s", "The clock that ntpd follows minus this node's clock.", Class.MEASUREMENT),
        "time.ntpd.jitter": quantity("s", "How much the offset varies (jitter).", Class.MEASUREMENT),
        "time.ntpd.root_delay": quantity("s", "Round-trip time to the root clock.", Class.MEASUREMENT),
        "time.ntpd.root_dispersion": quantity(
            "s", "The error accumulated on the path to the root clock.", Class.MEASUREMENT
        ),
    },
)
def ntpd(answer: str) -> Facts:
    """Read ntpd's variables, whose times are in milliseconds; every fact is absent if no ntpd answers."""
    gone = ntpq.lacking(answer)
    if gone is not None:
        leaves = ("reference", "stratum", "leap", *MILLISECONDS)
        yield from ((f"time.ntpd.{leaf}", Absent(gone)) for leaf in leaves)
        return
    table = ntpq.variables(answer, ("refid", "stratum", "leap", *MILLISECONDS.values()))
    leap = ntpq.leap(table["leap"])
    yield "time.ntpd.reference", ntpq.reference(table["refid"])
    yield "time.ntpd.stratum", read.whole(table["stratum"])
    yield "time.ntpd.leap", leap
    for leaf, key in MILLISECONDS.items():
        yield f"time.ntpd.{leaf}", ntpq.seconds(table[key])
