"""How many of Slurm's controllers respond to this node."""

from rackcheck import Class, Facts, Shell, Unreadable, integer, probe, read
from rackcheck.model.regex import regex

ROW = regex(r"Slurmctld\([\w -]{1,20}\) at \S{1,255} (?:\(\S{0,255}\) )?is (UP|DOWN)")


@probe(
    Shell(
        "command -v scontrol >/dev/null || { echo 'scontrol: not found' >&2; exit 127; }\n"
        't=$(scontrol ping); [ -n "$t" ] || exit 1\n'
        "printf '%s\\n' \"$t\" && echo '-- end --'",
        seconds=8,
    ),
    gives={
        "scheduler.slurm.controllers.up": integer("Controllers that answer.", Class.MEASUREMENT),
        "scheduler.slurm.controllers.count": integer("Controllers that the cluster has."),
    },
)
def slurm_ping(answer: str) -> Facts:
    """Read one controller per line."""
    rows = read.rows(answer)
    if not rows or rows[-1] != "-- end --":
        raise Unreadable("the output was truncated")
    found = [match for row in rows if (match := ROW.fullmatch(row))]
    if not found:
        raise Unreadable("scontrol ping lists no controller")
    yield "scheduler.slurm.controllers.up", sum(match[1] == "UP" for match in found)
    yield "scheduler.slurm.controllers.count", len(found)
