"""Threads that a device or a server holds up: they are uninterruptible, and do not run.

The kernel does not report how long a thread has been waiting. A thread is stuck if it is in state D in three readings
and has not run between them: the kernel's own detector of hung tasks compares the counts of context switches too
(kernel/hung_task.c), after 120 s. Only a node with a thread that still waits after a second is read once more, after
20 s; so most audits lose no time.

A thread of a paused container is in state D too, if the node has version 1 of control groups.
"""

from rackcheck import Class, Facts, Shell, Unreadable, integer, listing, probe
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows

END = "-- end --"
APART = (1, 20)
"""Seconds between the readings."""

NAMES = 20
"""Maximum number of names that are listed."""

_THREAD = regex(r"[0-9]{1,10} D [0-9]+ [0-9]+ (?P<name>.*)")


# All threads are read: a process may wait in any of them, and after `kill -9` its first thread is a zombie. In a file
# `status`, unlike in `stat`, the kernel escapes line ends and backslashes of a name. A line that two readings have in
# common is the same thread in state D with the same counts of voluntary and of other context switches.
@probe(
    Shell(
        "r=; [ -r /proc/1/stat ] || { echo 'process 1 is hidden: other users processes too' >&2; exit 1; }\n"
        "p=$(printf '%s\\n' /proc/[0-9]*/task/[0-9]*/status | xargs cat 2>/dev/null | "
        "awk '/^State:/ { s = $2 } /^Pid:/ { n++; if (s == \"D\") print $2 } END { if (!n) exit 1 }') || exit 1\n"
        "s() { printf '/proc/%s/status\\n' $p | xargs cat 2>/dev/null | "
        'awk \'/^Name:/ { x = substr($0, 7); c = "" } /^State:/ { s = $2 } /^Pid:/ { i = $2 } '
        '/^voluntary_ctxt_switches:/ { c = " " $2 } '
        '/^nonvoluntary_ctxt_switches:/ { if (s == "D") print i " D" c " " $2 " " x }\'; }\n'
        '[ -z "$p" ] || r=$(s)\n'
        f"for t in {' '.join(map(str, APART))}; do\n"
        '[ -n "$r" ] || break\n'
        "sleep $t || exit 1\n"
        "p=$(printf '%s\\n' \"$r\" | awk '{ print $1 }')\n"
        "r=$(printf '%s\\n%s\\n' \"$r\" \"$(s)\" | awk 'NF && c[$0]++ == 1')\n"
        "done\n"
        f'[ -z "$r" ] || printf \'%s\\n\' "$r"\necho "{END}"',
        seconds=45,
    ),
    gives={
        "os.processes.stuck": integer(
            f"Threads that were uninterruptible in three readings over {sum(APART)} s, and did not run between them.",
            Class.MEASUREMENT,
        ),
        "os.processes.stuck_names": listing(f"Names of these threads, each once, at most {NAMES}.", Class.MEASUREMENT),
    },
)
def stuck(answer: str) -> Facts:
    """Read the threads that all readings have in common: `4711 D 21 10 nvidia-smi`, with the counts of switches."""
    items = rows(answer)
    if not items or items[-1] != END:
        raise Unreadable("the output was truncated")
    found = [_THREAD.fullmatch(row) for row in items[:-1]]
    if None in found:
        raise Unreadable(f"not a thread in state D: {items[found.index(None)][:80]!r}")
    names = sorted({match["name"][:80] for match in found if match})
    yield "os.processes.stuck", len(found)
    yield "os.processes.stuck_names", tuple(names[:NAMES])
