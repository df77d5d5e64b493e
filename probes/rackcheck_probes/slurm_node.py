"""What Slurm's controller thinks of the node."""

import re

from rackcheck import Absent, Class, Facts, Shell, Unreadable, integer, listing, probe, quantity, text, version
from rackcheck.core import read

FIELD = re.compile(r"(?:^|\s)(NodeName|CPUTot|Gres|Version|RealMemory|State|Partitions|ActiveFeatures)=(\S*)")
REASON = re.compile(r"^[ \t]{0,20}Reason=(.{0,500})$", re.MULTILINE)


def told(value: str | None) -> str | Absent:
    """Give a value; what Slurm calls (null) or N/A is none."""
    return Absent("the controller has none") if value in {None, "", "(null)", "N/A"} else str(value)


# Asks the controller about this one node: a few kilobytes, and nothing changes.
@probe(
    Shell(
        "command -v scontrol >/dev/null || { echo 'scontrol: not found' >&2; exit 127; }\n"
        "h=$(cat /proc/sys/kernel/hostname)\n"
        't=$(scontrol show node "${h%%.*}") && printf "%s\\n" "$t" && echo "-- end --"',
        seconds=8,
    ),
    gives={
        "scheduler.slurm.node.state": text(
            "IDLE, ALLOCATED, MIXED, DOWN: the state without its marks.", Class.MEASUREMENT
        ),
        "scheduler.slurm.node.marks": listing(
            "What stands beside the state: DRAIN, NOT_RESPONDING.", Class.MEASUREMENT
        ),
        "scheduler.slurm.node.reason": text("Why somebody or a check took it out; absent where nobody did."),
        "scheduler.slurm.node.gres": text("The generic resources that the controller counts: gpu:h100:8."),
        "scheduler.slurm.node.cpus": integer("The CPUs that the controller counts."),
        "scheduler.slurm.node.memory": quantity("MiB", "The memory that the controller gives out."),
        "scheduler.slurm.node.partitions": listing("The partitions that the node is in."),
        "scheduler.slurm.node.features": listing("The features that are active on it."),
        "scheduler.slurm.node.version": version("dotted", "The version that slurmd reported to the controller."),
    },
)
def slurm_node(answer: str) -> Facts:
    """Read `Key=value` words; the reason is a line with blanks in it."""
    rows = read.rows(answer)
    if not rows or rows[-1] != "-- end --":
        raise Unreadable("the answer was cut")
    # The first counts: a reason is anybody's text, and comes last.
    shown = dict(reversed(FIELD.findall(answer)))
    if "NodeName" not in shown or "State" not in shown:
        raise Unreadable("no node and its state")
    parts = shown["State"].split("+")
    state, *marks = (part.rstrip("*~#!%$@^-") for part in parts)
    if any(part.endswith("*") for part in parts):
        marks.append("NOT_RESPONDING")
    reason = REASON.search(answer)
    at = "scheduler.slurm.node"
    yield f"{at}.state", state
    yield f"{at}.marks", tuple(sorted(set(marks)))
    yield f"{at}.reason", told(reason[1].strip() if reason else None)
    yield f"{at}.gres", told(shown.get("Gres"))
    yield f"{at}.version", told(shown.get("Version"))
    yield f"{at}.cpus", read.whole(shown["CPUTot"]) if "CPUTot" in shown else Absent("not told")
    yield f"{at}.memory", read.whole(shown["RealMemory"]) if "RealMemory" in shown else Absent("not told")
    for leaf, name in (("partitions", "Partitions"), ("features", "ActiveFeatures")):
        value = told(shown.get(name))
        yield f"{at}.{leaf}", value if isinstance(value, Absent) else tuple(sorted(value.split(",")))
