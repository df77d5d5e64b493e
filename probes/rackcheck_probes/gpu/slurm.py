"""GPUs of the node that Slurm's controller does not count."""

import re

from rackcheck import Absent, Class, Facts, Inputs, Reason, Unknown, integer, join
from rackcheck.model.fact import Reading
from rackcheck.model.regex import regex

_GPUS = regex(r"gpu(?::[^:()]{1,80}){0,3}:(?P<count>[0-9]{1,4})(?:\(.{0,200}\))?")


@join(
    needs=("gpu", "scheduler.slurm.node.gres"),
    gives={
        "scheduler.slurm.node.gpus_missing": integer(
            "The node's GPUs minus the GPUs that the controller lists, at least 0; absent if it lists none.",
            Class.MEASUREMENT,
        )
    },
)
def slurm_gpus(inputs: Inputs) -> Facts:
    """Compare the number of GPUs with the generic resources of the controller, `gpu:h100:8(S:0-1)`."""
    names, hidden = inputs.items("gpu")
    gres = inputs.reading("scheduler.slurm.node.gres")
    missing = count(gres) if isinstance(gres, str) else gres
    if isinstance(missing, int):
        missing = hidden or max(0, len(names) - missing)
    yield "scheduler.slurm.node.gpus_missing", missing


def count(gres: str) -> Reading:
    """Return the number of GPUs in Slurm's list of generic resources; absent if it lists none, Unknown if unreadable.

    Commas separate resources, and also stand inside the parentheses of sockets: `gpu:a100:4(S:0,2),shard:8`.
    """
    parts = re.split(r",(?![^()]*\))", gres)
    gpus = [part for part in parts if part.partition(":")[0] == "gpu"]
    matches = [_GPUS.fullmatch(part) for part in gpus]
    if not gpus:
        return Absent("the controller lists no GPU")
    if None in matches:
        return Unknown(Reason.UNPARSABLE, f"not a number of GPUs: {gres[:80]!r}")
    return sum(int(match["count"]) for match in matches if match)
