"""How many errors of each priority this boot's journal holds, of all programs: their numbers, and not their words.

The journal's own first words are asked for beside them, and all from the newest back: an answer that has those words
of the boot's first minutes reaches back to them, and a node where no journal is kept is no node without errors.
Unverified on hardware: written to journalctl's manual and to lines quoted in systemd issue 38912.
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
    """Count the entries of each priority, if the newest entries reach back to the journal's start."""
    entries = journalctl.entries(answer)
    if not any(entry.begins for entry in entries):
        raise Unreadable("this boot's journal, or what was read of it, has no beginning", Reason.NOT_READ_FURTHER)
    for number, leaf in LEAVES.items():
        yield f"log.boot.priority.{leaf}", sum(entry.priority == number for entry in entries)
