"""How many processes exist, hang or are zombies, and how old the oldest hanging process and the oldest zombie are.

The kernel does not report how long a process has been hanging. A process hangs if two readings that are minutes apart
both contain its name; the kernel also logs a hanging process (`log.kernel.stall.hung_tasks`).
"""

from rackcheck import Class, Facts, Shell, integer, listing, probe, quantity
from rackcheck.parse.host.os import process_states

NAMES = 20
"""Maximum number of hanging processes whose names are read from a node."""


# `ps` is not used: the `ps` of busybox differs. `xargs` splits the list if it is too long; processes that ended
# meanwhile are skipped. A name may contain blanks and brackets, but after its last bracket there are the state and
# numbers only; the 20th word from there is the start.
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
        "os.processes.count": integer("Processes, including the kernel's own.", Class.MEASUREMENT),
        "os.processes.zombies": integer("Processes that ended but were not reaped by their parent.", Class.MEASUREMENT),
        "os.processes.uninterruptible": integer(
            "Processes that wait for a device or a server and cannot be killed; a few short waits are normal.",
            Class.MEASUREMENT,
        ),
        "os.processes.uninterruptible_names": listing(
            f"Names of the processes that wait and cannot be killed, each once; at most {NAMES} processes are read.",
            Class.MEASUREMENT,
        ),
        "os.processes.uninterruptible_oldest": quantity(
            "s",
            "Time since the start of the oldest process that waits and cannot be killed; 0 if there is none. "
            "No such process has waited longer than this.",
            Class.MEASUREMENT,
        ),
        "os.processes.zombies_oldest": quantity(
            "s",
            "Time since the start of the oldest process that is a zombie; 0 if there is none. "
            "No process has been a zombie for longer than this.",
            Class.MEASUREMENT,
        ),
    },
)
def processes(answer: str) -> Facts:
    """Count the processes by state, and read the age of the oldest in each state and the names of those in state D."""
    found = process_states.states(answer, NAMES)
    yield "os.processes.count", sum(found.counts.values())
    yield "os.processes.zombies", found.counts.get("Z", 0)
    yield "os.processes.uninterruptible", found.counts.get("D", 0)
    yield "os.processes.uninterruptible_names", found.hanging
    yield "os.processes.uninterruptible_oldest", found.ages.get("D", 0.0)
    yield "os.processes.zombies_oldest", found.ages.get("Z", 0.0)
