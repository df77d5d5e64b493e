"""Processes that a device or a server holds up: they cannot be killed, and do not run.

The kernel does not report how long a process has been waiting. A process is stuck if it is in state D in two readings
and has not run between them: the kernel's own detector of hung tasks compares the counts of context switches too
(kernel/hung_task.c), after 120 s. A node without an old process in state D is read only once, so that no time is lost.
"""

import re

from rackcheck import Class, Facts, Reason, Shell, Unreadable, listing, probe
from rackcheck.model.text.values import rows

END = "-- end --"
AGE = 300
"""Seconds since the start of a process below which it is not read: a young process is not stuck, it only waits."""

APART = 5
"""Seconds between the two readings."""

NAMES = 20
"""Maximum number of processes that are read."""

_PROCESS = re.compile(r"(?P<reading>first|second) (?P<pid>[0-9]{1,10}) (?P<state>[A-Z]) (?P<ran>[0-9]+ [0-9]+) (.+)")


# The state of a file /proc/PID/stat comes after the last bracket, as a name may contain brackets; the 20th word from
# there is the start in ticks since boot. In /proc/PID/status, the kernel escapes line ends in the name.
@probe(
    Shell(
        "[ -r /proc/1/stat ] || { echo 'process 1 is hidden: other users processes too' >&2; exit 1; }\n"
        "read -r u _ </proc/uptime || exit 1\n"
        "p=$(printf '%s\\n' /proc/[0-9]*/stat | xargs cat 2>/dev/null | "
        f'awk -v old="$(( (${{u%.*}} - {AGE}) * 100 ))" '
        '\'{ p = $1; sub(/^.*\\) /, ""); '
        f'if ($1 == "D" && $20 + 0 <= old + 0 && k++ < {NAMES}) print p }}\')\n'
        's() { for i in $p; do awk -v n="$1" -v p="$i" \'/^Name:/ { x = substr($0, 7) } /^State:/ { s = $2 } '
        '/ctxt_switches:/ { c = c " " $2 } END { if (c) print n " " p " " s c " " x }\' '
        '"/proc/$i/status" 2>/dev/null; done; }\n'
        "s first\n"
        f'[ -z "$p" ] || {{ sleep {APART}; s second; }}\n'
        f'echo "{END}"'
    ),
    gives={
        "os.processes.stuck": listing(
            f"Names of the processes that began at least {AGE} s ago, and neither ran nor could be killed between two "
            f"readings {APART} s apart; each name once, at most {NAMES} processes are read.",
            Class.MEASUREMENT,
        )
    },
)
def stuck(answer: str) -> Facts:
    """Compare the two readings of each process: `first 4711 D 21 10 nvidia-smi`, with its counts of switches."""
    items = rows(answer)
    if not items or items[-1] != END:
        raise Unreadable("the output was truncated")
    readings: dict[str, set[tuple[str, str]]] = {"first": set(), "second": set()}
    for row in items[:-1]:
        match = _PROCESS.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a process and its state: {row[:80]!r}", Reason.UNPARSABLE)
        if match["state"] == "D":
            readings[match["reading"]].add((f"{match['pid']} {match['ran']}", match[5][:80]))
    yield "os.processes.stuck", tuple(sorted({name for _, name in readings["first"] & readings["second"]}))
