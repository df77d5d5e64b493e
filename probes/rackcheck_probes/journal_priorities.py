"""How many errors of each priority this boot's journal holds, of all programs: their numbers, and not their words.

The journal's own first words are asked for beside them, and all from the newest back: an answer that has those words
of the boot's first minutes reaches back to them, and a node where no journal is kept is no node without errors.
Unverified on hardware: written to journalctl's manual and to lines quoted in systemd issue 38912.
"""

import json
import re

from rackcheck import Class, Facts, Reason, Shell, Unreadable, integer, probe
from rackcheck.core import read
from rackcheck.core.fact import clean

MOST = 5000
STARTED = "f77379a8490b408bbe5f6940505a777b"
"""The id of `Journal started` (systemd, catalog/systemd.catalog.in), said again where it is restarted."""
EARLY = 300
"""Seconds after boot by which the first journal is there; a restart comes later."""
LEAVES = {"0": "emergencies", "1": "alerts", "2": "criticals", "3": "errors"}


def entry(row: str) -> tuple[object, bool]:
    """Read an entry's priority, and whether the boot's journal begins with it."""
    try:
        told = json.loads(row)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"no JSON: {clean(row, 80)!r}") from error
    if not isinstance(told, dict):
        raise Unreadable(f"no entry: {clean(row, 80)!r}")
    microseconds = told.get("__MONOTONIC_TIMESTAMP")
    if not isinstance(microseconds, str) or not re.fullmatch("[0-9]{1,20}", microseconds):
        raise Unreadable(f"an entry without a time: {clean(row, 80)!r}")
    return told.get("PRIORITY"), told.get("MESSAGE_ID") == STARTED and int(microseconds) < EARLY * 10**6


@probe(
    Shell(
        f"journalctl -b PRIORITY=0 PRIORITY=1 PRIORITY=2 PRIORITY=3 + MESSAGE_ID={STARTED} -r -n {MOST} -o json"
        " --output-fields=PRIORITY,MESSAGE_ID --no-pager",
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
    entries = [entry(row) for row in read.rows(answer)]
    if not any(begins for _, begins in entries):
        raise Unreadable("this boot's journal, or what was read of it, has no beginning", Reason.NOT_READ_FURTHER)
    for number, leaf in LEAVES.items():
        yield f"log.boot.priority.{leaf}", sum(priority == number for priority, _ in entries)
