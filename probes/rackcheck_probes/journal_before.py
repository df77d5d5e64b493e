"""What the kernel said last before this boot, as far as the journal kept it.

A journal that is kept in memory alone, or begins with this boot, tells nothing: then all of this is unknown. One that
was vacuumed has lost that boot's beginning and kept its end: how it ended is known, what happened before is not.
Unverified on hardware: no recording of a GPU node's journal in this form was at hand.
"""

from collections.abc import Sequence

from rackcheck import Absent, Class, Facts, Reason, Shell, Unknown, Unreadable, integer, listing, probe, text
from rackcheck.core.fact import clean
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import Line
from rackcheck.core.read.xid import SXid, Xid, xid
from rackcheck_probes import log_crash, log_mce
from rackcheck_probes.journal import EARLY, hidden, oldest
from rackcheck_probes.kernel_log import every_sxid, every_xid

MOST = 500
NONE = "-- No entries --"
CUT = "the oldest line is not of that boot's beginning"
PANIC = tuple(kind for kind in log_crash.KINDS if kind.leaf == "panics")
CHECKS = tuple(kind for kind in log_mce.KINDS if kind.leaf == "uncorrected")


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
    # As many lines as were asked for are the newest of them, wherever they begin.
    cut = None if len(rows) >= MOST or (log and oldest(log) <= EARLY) else Unknown(Reason.NOT_READ_FURTHER, CUT)
    yield "log.previous_boot.panics", _count(log, PANIC)
    yield "log.previous_boot.uncorrected", cut or _count(log, CHECKS)
    gpus, unread = every_xid(log)
    switches, unread_too = every_sxid(log)
    blobs = hidden(log)
    yield "log.previous_boot.xids", cut or unread or blobs or _codes(gpus)
    yield "log.previous_boot.sxids", cut or unread_too or blobs or _codes(switches)
    last = dmesg.message(rows[-1][: dmesg.LONGEST]) if rows else ""
    error = xid(last)
    yield "log.previous_boot.last", clean(error.said if error else last) if rows else Absent("no such line")
    if len(rows) >= MOST:
        raise Unreadable(f"only the newest {MOST} lines were read", Reason.NOT_READ_FURTHER)
    yield "log.previous_boot.lines", cut or len(rows)


def _count(log: str, kinds: Sequence[Line]) -> int:
    found = dmesg.tallies(log, kinds) if log else {}
    return sum(found[""].counts.values()) if found else 0


def _codes(errors: Sequence[Xid | SXid]) -> tuple[str, ...]:
    return tuple(str(code) for code in sorted({error.code for error in errors}))
