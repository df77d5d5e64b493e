"""How many processes there are, which of them hang or are dead, and how old those are.

Since when a process hangs the kernel does not show: two readings, minutes apart, with the same names in both tell it,
and the kernel's own word (`log.kernel.stall.hung_tasks`).
"""

from rackcheck import Class, Facts, Shell, integer, listing, probe, quantity
from rackcheck.parse.host.os import process_states

NAMES = 20
"""Names of hanging processes that a node gives at most."""


# No ps: busybox has another. `xargs` parts the list where it would be too long; who ended meanwhile is passed over.
# A name may hold blanks and brackets, but behind its last bracket there are numbers only: the state, and 20th from
# there the start.
@probe(
    Shell(
        "[ -r /proc/1/stat ] || { echo 'process 1 is hidden: other users processes too' >&2; exit 1; }\n"
        "printf '%s\\n' /proc/[0-9]*/stat | xargs cat 2>/dev/null | "
        'awk \'{ l = $0; sub(/^.*\\) /, ""); s = $1; c[s]++; '
        'if (!(s in o) || $20 < o[s]) o[s] = $20; if (s == "D" && '
        f'k++ < {NAMES}) {{ sub(/^[0-9]+ \\(/, "", l); sub(/\\) D [-0-9 ]*$/, "", l); print "hangs " l }} }} '
        'END { for (s in c) print "state " s " " c[s] " " o[s] }\'\n'
        f'read -r u _ </proc/uptime && echo "up ${{u%.*}}" && echo "{process_states.END}"',
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
        "os.processes.uninterruptible_oldest": quantity(
            "s", "How long ago the oldest of these began, 0 without any; none has hung for longer.", Class.MEASUREMENT
        ),
        "os.processes.zombies_oldest": quantity(
            "s",
            "How long ago the oldest zombie began, 0 without any; none has been dead for longer.",
            Class.MEASUREMENT,
        ),
    },
)
def processes(answer: str) -> Facts:
    """Read the processes of each state, the start of their oldest, and the names of those in state D."""
    found = process_states.states(answer, NAMES)
    yield "os.processes.count", sum(found.counts.values())
    yield "os.processes.zombies", found.counts.get("Z", 0)
    yield "os.processes.uninterruptible", found.counts.get("D", 0)
    yield "os.processes.uninterruptible_names", found.hanging
    yield "os.processes.uninterruptible_oldest", found.ages.get("D", 0.0)
    yield "os.processes.zombies_oldest", found.ages.get("Z", 0.0)
