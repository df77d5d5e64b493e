"""How Slurm's daemon of the node is installed, and how it fences jobs in."""

import re

from rackcheck import Absent, Facts, Reason, Shell, Unknown, Unreadable, flag, probe, setting, text, version
from rackcheck.core import read
from rackcheck.core.fact import Reading
from rackcheck_probes.hidden import THERE

END = "-- end --"
CGROUP = ("ConstrainDevices", "ConstrainRAMSpace", "ConstrainCores")
CONFIG = ("ProctrackType", "TaskPlugin", "PrologFlags", "SlurmdTimeout", "HealthCheckInterval", "RebootProgram")
TREE = "/opt/slurm"
FOLDERS = ("/etc/slurm", "/etc/slurm-llnl", "/run/slurm/conf", f"{TREE}/etc")
FILES = {"slurm.conf": CONFIG, "cgroup.conf": CGROUP, "gres.conf": ("AutoDetect",)}

HIDDEN = Unknown(Reason.DENIED, "its folder may not be entered, or it may not be read")
MISSING: dict[str, Reading] = {
    "no slurmd": Absent(f"no slurmd in PATH and {TREE}"),
    "hidden slurmd": Unknown(Reason.DENIED, f"no slurmd in PATH, and {TREE} may not be entered"),
    "fails slurmd": Unknown(Reason.NOT_COLLECTED, "slurmd -V failed"),
}


def leaf(name: str) -> str:
    """Spell one of Slurm's names as a word of ours: ConstrainRAMSpace is constrain_ram_space."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


# Only these lines: slurm.conf may hold the accounting's password. The daemon tells its version and does not start.
# AWS ParallelCluster installs below /opt/slurm (aws-parallelcluster-cookbook: slurm_attributes.rb, slurmd.service).
@probe(
    Shell(
        f"{THERE}PATH=$PATH:{TREE}/sbin\n"
        "if command -v slurmd >/dev/null; then slurmd -V || echo 'fails slurmd'; else\n"
        f"(there {TREE}/sbin/.); [ $? = 2 ] && echo 'hidden slurmd' || echo 'no slurmd'; fi\n"
        f"for d in {' '.join(FOLDERS)}; do (there $d/.); [ $? = 1 ] || break; done\n"
        f"for f in {' '.join(FILES)}; do\n"
        '(there $d/$f); case $? in 1) continue;; 2) echo "hidden $f"; continue;; esac; echo "== $f"\n'
        f"grep -iE '^[[:space:]]*(include[[:space:]]|({'|'.join((*CONFIG, *CGROUP, 'AutoDetect'))})[[:space:]]*=)' "
        f"$d/$f || [ $? = 1 ] || echo \"hidden $f\"\ndone; echo '{END}'"
    ),
    gives={
        "scheduler.slurm.version": version(
            "dotted", "slurmd's version; absent where neither a PATH nor /opt/slurm has it."
        ),
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
    if said is None and rows[0] not in MISSING:
        raise Unreadable(f"not a version: {rows[0][:80]!r}")
    yield "scheduler.slurm.version", said[1] if said else MISSING[rows[0]]
    given: dict[str, Reading] = {}
    found: dict[str, Reading] = {}
    seen: dict[str, Reading] = {}
    for row in rows[1:-1]:
        word, _, rest = row.partition(" ")
        if word in {"==", "hidden"} and rest in FILES:
            found[rest] = HIDDEN if word == "hidden" and rest not in found else True
            seen[rest] = HIDDEN if word == "hidden" else Absent(f"not in {rest}")
            continue
        if seen and re.match(r"\s{0,80}include\s", row, re.IGNORECASE):
            name = list(seen)[-1]
            seen[name] = Unknown(Reason.NOT_READ_FURTHER, f"{name} includes other files and has no such line itself")
            continue
        # gres.conf may have more on the line.
        key, _, value = row.partition("#")[0].strip().partition("=")
        if not seen or not key.strip().isalnum():
            raise Unreadable(f"not a setting of Slurm: {row[:80]!r}")
        given[key.strip().lower()] = value.strip().split()[0] if value.strip() else Absent("set to nothing")
    for name, keys in FILES.items():
        why = seen.get(name, Absent(f"no {name}"))
        yield f"scheduler.slurm.file.{name.partition('.')[0]}", found.get(name, False)
        for key in keys:
            yield f"scheduler.slurm.{leaf(key)}", given.get(key.lower(), why)
