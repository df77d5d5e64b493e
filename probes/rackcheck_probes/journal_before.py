"""What the kernel said last before this boot, as far as the journal kept it.

A journal that is kept in memory alone, or begins with this boot, tells nothing: then all of this is unknown. Unverified
on hardware: no recording of a GPU node's journal in this form was at hand.
"""

from rackcheck import Absent, Class, Facts, Reason, Shell, Unreadable, integer, listing, probe, text
from rackcheck.core.fact import clean
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck.core.read.xid import xid
from rackcheck_probes.kernel_log import sxids, xids

MOST = 500
NONE = "-- No entries --"
PANIC = (line("panics", "Kernel panic - not syncing", "Kernel panic - not syncing"),)
CHECKS = (
    line("uncorrected", "[Hardware Error]: Uncorrected", r"(?:mce: )?\[Hardware Error\]: Uncorrected"),
    line("uncorrected", "Machine Check Exception", r"(?:mce: )?\[Hardware Error\]: CPU ?[0-9]{1,5}: Machine Check Exc"),
)


@probe(
    Shell(f"journalctl -k -b -1 -p 4 -n {MOST} -o short-monotonic --no-hostname --no-pager", root=True, seconds=20),
    gives={
        "log.previous_boot.lines": integer(
            f"Warnings and errors of the kernel before this boot; unknown from {MOST} on.", Class.COUNTER
        ),
        "log.previous_boot.panics": integer(f"Panics among the newest {MOST} of them.", Class.COUNTER),
        "log.previous_boot.uncorrected": integer(
            f"Uncorrected machine checks among the newest {MOST} of them.", Class.COUNTER
        ),
        "log.previous_boot.xids": listing(f"Xids among the newest {MOST} of them, by number.", Class.COUNTER),
        "log.previous_boot.sxids": listing(f"SXids among the newest {MOST} of them, by number.", Class.COUNTER),
        "log.previous_boot.last": text("The last of them, without its time; absent without one.", Class.MEASUREMENT),
    },
)
def journal_before(answer: str) -> Facts:
    """Read the newest lines of the boot before this one; journalctl fails where it knows of none."""
    rows = [row for row in answer.split("\n")[:-1] if row and not row.startswith("-- ")]
    if not rows and NONE not in answer:
        raise Unreadable("neither lines nor that there are none", Reason.NOT_COLLECTED)
    if not answer.endswith("\n"):
        dmesg.whole(answer)
    log = "".join(f"{row}\n" for row in rows)
    for leaf, kinds in (("panics", PANIC), ("uncorrected", CHECKS)):
        found = dmesg.tallies(log, kinds) if log else {}
        yield f"log.previous_boot.{leaf}", sum(found[""].counts.values()) if found else 0
    yield "log.previous_boot.xids", tuple(str(code) for code in sorted({error.code for error in xids(log)}))
    yield "log.previous_boot.sxids", tuple(str(code) for code in sorted({error.code for error in sxids(log)}))
    last = dmesg.message(rows[-1][: dmesg.LONGEST]) if rows else ""
    error = xid(last)
    yield "log.previous_boot.last", clean(error.said if error else last) if rows else Absent("no such line")
    if len(rows) >= MOST:
        raise Unreadable(f"only the newest {MOST} lines were read", Reason.NOT_READ_FURTHER)
    yield "log.previous_boot.lines", len(rows)
