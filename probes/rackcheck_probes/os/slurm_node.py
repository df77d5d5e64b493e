"""The node's state in Slurm's controller."""

from rackcheck import Absent, Class, Facts, Shell, Unreadable, integer, listing, probe, quantity, read, text, version
from rackcheck.parse.host.os import slurm


# Queries the controller about this one node: a few kilobytes, and no change.
@probe(
    Shell(
        "command -v scontrol >/dev/null || { echo 'scontrol: not found' >&2; exit 127; }\n"
        "h=$(cat /proc/sys/kernel/hostname)\n"
        't=$(scontrol show node "${h%%.*}") && printf "%s\\n" "$t" && echo "-- end --"',
        seconds=8,
    ),
    gives={
        "scheduler.slurm.node.state": text(
            "IDLE, ALLOCATED, MIXED, DOWN: the state without its flags.", Class.MEASUREMENT
        ),
        "scheduler.slurm.node.marks": listing("Flags beside the state: DRAIN, NOT_RESPONDING.", Class.MEASUREMENT),
        "scheduler.slurm.node.reason": text(
            "The reason why the node was taken out of service; absent if it is in service."
        ),
        "scheduler.slurm.node.gres": text("The generic resources that the controller lists: gpu:h100:8."),
        "scheduler.slurm.node.cpus": integer("The CPUs that the controller lists."),
        "scheduler.slurm.node.memory": quantity("MiB", "The memory that the controller allocates."),
        "scheduler.slurm.node.partitions": listing("The partitions that the node is in."),
        "scheduler.slurm.node.features": listing("The features that are active on the node."),
        "scheduler.slurm.node.version": version("dotted", "The version that slurmd reported to the controller."),
    },
)
def slurm_node(answer: str) -> Facts:
    """Read words such as `Key=value`; the value of `Reason` may contain blanks and ends at the end of its line."""
    rows = read.rows(answer)
    if not rows or rows[-1] != "-- end --":
        raise Unreadable("the output was truncated")
    node = slurm.node(answer)
    at = "scheduler.slurm.node"
    yield f"{at}.state", node.state
    yield f"{at}.marks", node.marks
    yield f"{at}.reason", node.reason
    yield f"{at}.gres", node.text("Gres")
    yield f"{at}.version", node.text("Version")
    for leaf, name in (("cpus", "CPUTot"), ("memory", "RealMemory")):
        yield f"{at}.{leaf}", read.whole(node.fields[name]) if name in node.fields else Absent("not reported")
    for leaf, name in (("partitions", "Partitions"), ("features", "ActiveFeatures")):
        yield f"{at}.{leaf}", node.names(name)
