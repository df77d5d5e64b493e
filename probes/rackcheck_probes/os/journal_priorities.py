"""Number of errors of each priority in this boot's journal, from all programs; the texts of the errors are not read.

The query requests the errors together with the message that the journal itself logs when it starts, newest entries
first. If the output contains the journal's start message, the output reaches back to the first minutes of the boot. If
the output lacks the journal's start message, the numbers are unknown, so a node without a journal does not count as
free of errors. Unverified on hardware: written from journalctl's manual and from lines quoted in systemd issue 38912.
"""

from rackcheck import Class, Facts, Reason, Shell, Unreadable, integer, probe
from rackcheck.parse.host.kernel_log import journalctl

MOST = 5000
LEAVES = {"0": "emergencies", "1": "alerts", "2": "criticals", "3": "errors"}


@probe(
    Shell(
        f"journalctl -b PRIORITY=0 PRIORITY=1 PRIORITY=2 PRIORITY=3 + MESSAGE_ID={journalctl.STARTED} -r -n {MOST}"
        " -o json --output-fields=PRIORITY,MESSAGE_ID --no-pager",
        root=True,
        cap=4 << 20,
        seconds=20,
    ),
    gives={
        f"log.boot.priority.{leaf}": integer(
            f"Entries of priority {number} in this boot's journal, of the kernel and all programs.", Class.COUNTER
        )
        for number, leaf in LEAVES.items()
    },
)
def journal_priorities(answer: str) -> Facts:
    """Count the entries of each priority; raises Unreadable if the entries do not reach back to the journal's start."""
    entries = journalctl.entries(answer)
    if not any(entry.begins for entry in entries):
        raise Unreadable(
            "the entries that were read do not reach back to the start of this boot", Reason.NOT_READ_FURTHER
        )
    for number, leaf in LEAVES.items():
        yield f"log.boot.priority.{leaf}", sum(entry.priority == number for entry in entries)
