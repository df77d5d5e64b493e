"""What one session may use."""

import math
import re

from rackcheck import Facts, Files, Read, integer, probe, quantity
from rackcheck.core import read
from rackcheck.core.catalogue import Kind

PLACE = "/proc/self/limits"
ROW = re.compile(r"Max (?P<name>[a-z ]+?)\s{2,}(?P<soft>\w+)\s+(?P<hard>\w+)\s+(?P<unit>bytes|processes|files)?\s*")
NAMES = {
    "open files": "nofile",
    "processes": "nproc",
    "locked memory": "memlock",
    "stack size": "stack",
    "core file size": "core",
}
HELP = {
    "nofile": "Files that a process may have open",
    "nproc": "Processes that the user may have",
    "memlock": "Memory that a process may pin, which RDMA needs",
    "stack": "A process's stack",
    "core": "The largest core dump",
}


def kind(name: str, side: str) -> Kind:
    """Give the meaning of one limit, soft or hard, in the session that audits."""
    help_ = f"{HELP[name]}, {side} limit, in the auditing user's session."
    return integer(help_, unlimited=True) if name in {"nofile", "nproc"} else quantity("KiB", help_, unlimited=True)


@probe(
    Read(PLACE),
    gives={f"limits.{name}.{side}": kind(name, side) for name in NAMES.values() for side in ("soft", "hard")},
)
def limits(files: Files) -> Facts:
    """Read the limits of the session that asks; a job's own may differ."""
    for row in read.rows(files.text(PLACE))[1:]:
        match = ROW.fullmatch(row)
        if match is None or match["name"] not in NAMES:
            continue
        for side in ("soft", "hard"):
            told = math.inf if match[side] == "unlimited" else read.whole(match[side])
            yield f"limits.{NAMES[match['name']]}.{side}", told / 1024 if match["unit"] == "bytes" else told
