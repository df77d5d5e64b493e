"""How well chrony keeps the clock."""

import re

from rackcheck import Absent, Class, Facts, Reason, Shell, Unreadable, integer, probe, quantity, text
from rackcheck.core import read

NONE = "no chronyc"
REFERENCE = re.compile(r"[^\s()]{1,64} \((?P<name>[^()]{0,255})\)")
SECONDS = re.compile(r"(?P<number>[+-]?[0-9]{1,12}\.[0-9]{1,12}) seconds(?: (?P<way>slow|fast) of NTP time)?")
FIELDS = {"offset": "System time", "last_offset": "Last offset", "rms_offset": "RMS offset",
          "root_delay": "Root delay", "root_dispersion": "Root dispersion"}  # fmt: skip


def seconds(told: str) -> float:
    """Read `0.000000626 seconds slow of NTP time`, which is below zero."""
    match = SECONDS.fullmatch(told)
    if match is None:
        raise Unreadable(f"not seconds: {told[:80]!r}")
    number = float(match["number"])
    return (-number if match["way"] == "slow" else number) + 0.0  # not -0


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
    if rows == [NONE]:
        leaves = ("reference", "stratum", "leap", *FIELDS)
        yield from ((f"time.chrony.{leaf}", Absent("chrony is not installed")) for leaf in leaves)
        return
    if re.match(r"[0-9]{3} ", rows[0] if rows else ""):  # chronyc's own word: 506 Cannot talk to daemon
        raise Unreadable(rows[0][:80], Reason.NOT_COLLECTED)
    table = read.key_values("\n".join(rows))
    missing = [key for key in ("Reference ID", "Stratum", "Leap status", *FIELDS.values()) if key not in table]
    reference = REFERENCE.fullmatch(table.get("Reference ID", ""))
    if missing or reference is None:
        raise Unreadable(f"not the words of chronyc: {', '.join(missing) or table['Reference ID'][:80]!r}")
    lost = table["Leap status"] == "Not synchronised"
    nothing = Absent("chrony follows nothing")
    yield "time.chrony.leap", table["Leap status"]
    yield "time.chrony.reference", nothing if lost else reference["name"] or nothing
    yield "time.chrony.stratum", nothing if lost else read.whole(table["Stratum"])
    for leaf, key in FIELDS.items():
        yield f"time.chrony.{leaf}", nothing if lost else seconds(table[key])
