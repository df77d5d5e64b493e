"""How many processes there are, and which of them hang or are dead."""

import re
from collections import Counter

from rackcheck import Class, Facts, Reason, Shell, Unreadable, integer, listing, probe
from rackcheck.core import read

END = "-- end --"
NAMES = 20
"""Names of hanging processes that a node gives at most."""


# No ps: busybox has another. `xargs` parts the list where it would be too long; who ended meanwhile is passed over.
@probe(
    Shell(
        "[ -r /proc/1/status ] || { echo 'process 1 is hidden: other users processes too' >&2; exit 1; }\n"
        "printf '%s\\n' /proc/[0-9]*/status | xargs grep -hsE '^(Name|State):' | awk '"
        '$1 == "Name:" { n = substr($0, 7) } '
        f'$1 == "State:" {{ c[$2]++; if ($2 == "D" && k++ < {NAMES}) print "hangs " n }} '
        f'END {{ for (s in c) print "state " s " " c[s]; print "{END}" }}\'',
        quick=True,
    ),
    gives={
        "os.processes.count": integer("Processes, the kernel's own among them.", Class.MEASUREMENT),
        "os.processes.zombies": integer("Processes that ended and that nobody has asked after.", Class.MEASUREMENT),
        "os.processes.uninterruptible": integer(
            "Processes that wait for a device or a server and cannot be killed; a few for a moment are usual.",
            Class.MEASUREMENT,
        ),
        "os.processes.uninterruptible_names": listing(
            f"The names of these, each once, of {NAMES} processes at most.", Class.MEASUREMENT
        ),
    },
)
def processes(answer: str) -> Facts:
    """Read the processes of each state, and the names of those in state D."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the answer was cut")
    counts: Counter[str] = Counter()
    names: set[str] = set()
    for row in rows[:-1]:
        match = re.fullmatch(r"state ([A-Za-z]) ([0-9]{1,9})", row)
        if match is not None:
            counts[match[1]] += int(match[2])
        elif row.startswith("hangs ") and len(names) < NAMES:
            names.add(row.removeprefix("hangs ")[:80])
        else:
            raise Unreadable(f"neither a state nor a name: {row[:80]!r}")
    if not counts:
        raise Unreadable("no process at all", Reason.NOT_COLLECTED)
    yield "os.processes.count", counts.total()
    yield "os.processes.zombies", counts["Z"]
    yield "os.processes.uninterruptible", counts["D"]
    yield "os.processes.uninterruptible_names", tuple(sorted(names))
