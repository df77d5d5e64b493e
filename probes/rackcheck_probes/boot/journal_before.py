"""The kernel's last messages before this boot, as far as the journal kept them.

All facts of this probe are unknown if the journal is kept only in memory or begins with this boot. If the journal was
vacuumed, it has lost the beginning of the previous boot but kept its end: facts about the last messages are known,
facts about all messages are unknown. Unverified on hardware: no recording of a GPU node's journal in the output format
`short-monotonic` was available.
"""

from collections.abc import Sequence

from rackcheck import Absent, Class, Facts, Reason, Shell, Unknown, Unreadable, integer, listing, probe, text
from rackcheck.model.fact import clean
from rackcheck.parse.host.kernel_log import dmesg, journalctl
from rackcheck.parse.host.kernel_log.dmesg import LinePattern
from rackcheck.parse.host.kernel_log.dmesg_hardware import MACHINE_CHECKS
from rackcheck.parse.host.kernel_log.dmesg_kernel import FAULTS
from rackcheck.parse.host.kernel_log.xid import xid
from rackcheck.parse.host.kernel_log.xid_lines import codes, every_sxid, every_xid
from rackcheck_probes.os.journal import EARLY

MOST = 500
CUT = "the lines that were read do not reach back to the start of that boot"
PANIC = tuple(kind for kind in FAULTS if kind.leaf == "panics")
CHECKS = tuple(kind for kind in MACHINE_CHECKS if kind.leaf == "uncorrected")


@probe(
    Shell(f"journalctl -k -b -1 -p 4 -n {MOST} -o short-monotonic --no-hostname --no-pager", root=True, seconds=20),
    gives={
        "log.previous_boot.lines": integer(
            f"Warnings and errors of the kernel in the previous boot; unknown if there are {MOST} lines or more.",
            Class.COUNTER,
        ),
        "log.previous_boot.panics": integer(
            f"Panics among the previous boot's newest {MOST} kernel warnings and errors.", Class.COUNTER
        ),
        "log.previous_boot.uncorrected": integer(
            f"Uncorrected machine checks among the previous boot's newest {MOST} kernel warnings and errors.",
            Class.COUNTER,
        ),
        "log.previous_boot.xids": listing(
            f"Xids among the previous boot's newest {MOST} kernel warnings and errors, by number.", Class.COUNTER
        ),
        "log.previous_boot.sxids": listing(
            f"SXids among the previous boot's newest {MOST} kernel warnings and errors, by number.", Class.COUNTER
        ),
        "log.previous_boot.last": text(
            "The previous boot's last kernel warning or error, without its time; absent if there is none.",
            Class.MEASUREMENT,
        ),
    },
)
def journal_before(answer: str) -> Facts:
    """Read the kernel's newest lines of the previous boot; journalctl fails if the journal lacks the previous boot."""
    log = journalctl.of_boot_before(answer)
    rows = log.split("\n")[:-1]
    # If there are as many lines as requested, they are the newest, and the oldest of them need not be the boot's first.
    reaches_back = len(rows) >= MOST or (log and journalctl.oldest(log) <= EARLY)
    cut = None if reaches_back else Unknown(Reason.NOT_READ_FURTHER, CUT)
    yield "log.previous_boot.panics", _count(log, PANIC)
    yield "log.previous_boot.uncorrected", cut or _count(log, CHECKS)
    gpus, unread = every_xid(log)
    switches, unread_too = every_sxid(log)
    blobs = journalctl.hidden(log)
    yield "log.previous_boot.xids", cut or unread or blobs or codes(gpus)
    yield "log.previous_boot.sxids", cut or unread_too or blobs or codes(switches)
    last = dmesg.message(rows[-1][: dmesg.LONGEST]) if rows else ""
    error = xid(last)
    yield (
        "log.previous_boot.last",
        clean(error.text if error else last) if rows else Absent("no kernel warning or error"),
    )
    if len(rows) >= MOST:
        raise Unreadable(f"only the newest {MOST} lines were read", Reason.NOT_READ_FURTHER)
    yield "log.previous_boot.lines", cut or len(rows)


def _count(log: str, kinds: Sequence[LinePattern]) -> int:
    found = dmesg.tallies(log, kinds) if log else {}
    return sum(found[""].counts.values()) if found else 0
