"""How Slurm's daemon of the node is installed, and how it fences jobs in."""

import re

from rackcheck import Absent, Facts, Shell, Unreadable, flag, probe, setting, text, version
from rackcheck.core import read
from rackcheck.core.fact import Reading

END = "-- end --"
CGROUP = ("ConstrainDevices", "ConstrainRAMSpace", "ConstrainCores")
CONFIG = ("ProctrackType", "TaskPlugin", "PrologFlags", "SlurmdTimeout", "HealthCheckInterval", "RebootProgram")
FILES = {"slurm.conf": CONFIG, "cgroup.conf": CGROUP, "gres.conf": ("AutoDetect",)}


def leaf(name: str) -> str:
    """Spell one of Slurm's names as a word of ours: ConstrainRAMSpace is constrain_ram_space."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


# Only these lines: slurm.conf may hold the accounting's password. The daemon tells its version and does not start.
@probe(
    Shell(
        "command -v slurmd >/dev/null && slurmd -V || echo 'no slurmd'\n"
        "d=/etc/slurm; [ -d $d ] || d=/etc/slurm-llnl; [ -d $d ] || d=/run/slurm/conf\n"
        f"for f in {' '.join(FILES)}; do\n"
        '[ -e $d/$f ] || continue; echo "== $f"\n'
        f"grep -iE '^[[:space:]]*({'|'.join((*CONFIG, *CGROUP, 'AutoDetect'))})[[:space:]]*=' $d/$f "
        f"|| [ $? = 1 ] || exit 1\ndone; echo '{END}'"
    ),
    gives={
        "scheduler.slurm.version": version("dotted", "slurmd's version; absent where no PATH has it."),
        **{
            f"scheduler.slurm.file.{name.partition('.')[0]}": flag(f"Whether the node has a {name} of its own.")
            for name in FILES
        },
        **{
            f"scheduler.slurm.{leaf(name)}": setting(f"{name} of the node's slurm.conf: the cluster's choice.")
            for name in CONFIG
        },
        **{
            f"scheduler.slurm.{leaf(name)}": text(f"{name} of cgroup.conf: whether a job keeps to its share: yes, no.")
            for name in CGROUP
        },
        "scheduler.slurm.auto_detect": text("How gres.conf finds the GPUs: nvml, rsmi, off; absent: by its own lines."),
    },
)
def slurm(answer: str) -> Facts:
    """Read the version, then of each file those lines that matter; Slurm's names have no case."""
    rows = read.rows(answer)
    if len(rows) < 2 or rows[-1] != END:
        raise Unreadable("the answer was cut")
    said = re.fullmatch(r"(?:slurm|slurm-wlm) ([\w.-]{1,40})", rows[0])
    if said is None and rows[0] != "no slurmd":
        raise Unreadable(f"not a version: {rows[0][:80]!r}")
    yield "scheduler.slurm.version", said[1] if said else Absent("no slurmd in PATH")
    given: dict[str, Reading] = {}
    seen = set()
    for row in rows[1:-1]:
        if row.startswith("== ") and row[3:] in FILES:
            seen.add(row[3:])
            continue
        # gres.conf may have more on the line.
        key, _, value = row.partition("#")[0].strip().partition("=")
        if not seen or not key.strip().isalnum():
            raise Unreadable(f"not a setting of Slurm: {row[:80]!r}")
        given[key.strip().lower()] = value.strip().split()[0] if value.strip() else Absent("set to nothing")
    for name, keys in FILES.items():
        yield f"scheduler.slurm.file.{name.partition('.')[0]}", name in seen
        for key in keys:
            why = Absent(f"not in {name}" if name in seen else f"no {name}")
            yield f"scheduler.slurm.{leaf(key)}", given.get(key.lower(), why)
