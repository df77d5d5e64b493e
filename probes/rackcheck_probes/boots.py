"""How often the system has started, and how often without having been shut down."""

from itertools import pairwise

from rackcheck import Class, Facts, Shell, Unreadable, integer, probe
from rackcheck.core import read

MOST = 400
END = "-- end --"


@probe(
    Shell(f't=$(last -x reboot shutdown) && printf "%s\\n" "$t" | head -n {MOST} && echo "{END}"', quick=True),
    gives={
        "os.boot.count": integer(
            f"Starts that wtmp has on record, of the newest {MOST} lines; its file is turned over, mostly monthly.",
            Class.COUNTER,
        ),
        "os.boot.unclean": integer(
            "Starts of these that came without a shutdown: the power went, somebody reset it, or it crashed.",
            Class.COUNTER,
        ),
    },
)
def boots(answer: str) -> Facts:
    """Read the newest starts and shutdowns, newest first; of the oldest start nobody knows what was before."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the answer was cut")
    kinds = [row.split(maxsplit=1)[0] for row in rows[:-1] if row.startswith(("reboot ", "shutdown "))]
    if not kinds and not any(row.startswith("wtmp ") for row in rows):
        raise Unreadable(f"no line of wtmp: {rows[0][:80]!r}")
    yield "os.boot.count", kinds.count("reboot")
    yield "os.boot.unclean", sum(newer == older == "reboot" for newer, older in pairwise(kinds))
