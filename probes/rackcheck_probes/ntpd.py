"""How well ntpd keeps the clock."""

import re

from rackcheck import Absent, Class, Facts, Shell, Unreadable, integer, probe, quantity, text
from rackcheck.core import read

NONE = "no ntpq"
VARIABLE = re.compile(r'\b([a-z_]{1,30})=("[^"\n]{0,300}"|[^\s,"]{1,100})')
LEAP = {0: "none", 1: "insert", 2: "delete", 3: "unsynchronized"}
MILLISECONDS = {"offset": "offset", "jitter": "sys_jitter", "root_delay": "rootdelay", "root_dispersion": "rootdisp"}


# Unverified on hardware: the words are those that ntp 4.2.6 to 4.2.8 and ntpsec 1.2 print in public listings.
@probe(
    Shell(f"if command -v ntpq >/dev/null; then ntpq -n -c rv 2>&1; else echo '{NONE}'; fi", ok=(0, 1)),
    gives={
        "time.ntpd.reference": text("What ntpd follows: a server's address, or a clock's name.", Class.MEASUREMENT),
        "time.ntpd.stratum": integer("Steps to the clock at the root; 16 while it follows nothing.", Class.MEASUREMENT),
        "time.ntpd.leap": text("none, insert, delete (of a second), or unsynchronized.", words=LEAP.values()),
        "time.ntpd.offset": quantity("s", "The clock it follows less this one.", Class.MEASUREMENT),
        "time.ntpd.jitter": quantity("s", "How much that offset varies.", Class.MEASUREMENT),
        "time.ntpd.root_delay": quantity("s", "The way to the clock at the root and back.", Class.MEASUREMENT),
        "time.ntpd.root_dispersion": quantity("s", "The error gathered on that way.", Class.MEASUREMENT),
    },
)
def ntpd(answer: str) -> Facts:
    """Read ntpd's variables; every fact is absent where no ntpd answers. Its times are milliseconds."""
    gone = "is not installed" if read.rows(answer) == [NONE] else "does not run" if "refused" in answer else ""
    if gone:
        leaves = ("reference", "stratum", "leap", *MILLISECONDS)
        yield from ((f"time.ntpd.{leaf}", Absent(f"ntpd {gone}")) for leaf in leaves)
        return
    table = dict(VARIABLE.findall(answer))
    missing = [key for key in ("refid", "stratum", "leap", *MILLISECONDS.values()) if key not in table]
    if missing:
        raise Unreadable(f"ntpq does not tell {', '.join(missing)}: {answer[:80]!r}")
    if not re.fullmatch("[01]{1,2}", table["leap"]):
        raise Unreadable(f"not two bits of a leap: {table['leap']!r}")
    yield "time.ntpd.reference", table["refid"]
    yield "time.ntpd.stratum", read.whole(table["stratum"])
    yield "time.ntpd.leap", LEAP[int(table["leap"], 2)]
    for leaf, key in MILLISECONDS.items():
        yield f"time.ntpd.{leaf}", round(read.number(table[key]) / 1000, 9)
