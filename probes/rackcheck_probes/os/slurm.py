"""Installation of Slurm's daemon on the node, and how the daemon confines jobs."""

import re

from rackcheck import Absent, Facts, Reason, Shell, Unknown, Unreadable, flag, probe, read, setting, text, version
from rackcheck.model.fact import Reading
from rackcheck.parse.host.os import slurm as reader
from rackcheck_probes.os.hidden import THERE

END = "-- end --"
CGROUP = ("ConstrainDevices", "ConstrainRAMSpace", "ConstrainCores")
CONFIG = ("ProctrackType", "TaskPlugin", "PrologFlags", "SlurmdTimeout", "HealthCheckInterval", "RebootProgram")
TREE = "/opt/slurm"
FOLDERS = ("/etc/slurm", "/etc/slurm-llnl", "/run/slurm/conf", f"{TREE}/etc")
FILES = {"slurm.conf": CONFIG, "cgroup.conf": CGROUP, "gres.conf": ("AutoDetect",)}

MISSING: dict[str, Reading] = {
    "no slurmd": Absent(f"no slurmd in PATH or {TREE}"),
    "hidden slurmd": Unknown(Reason.DENIED, f"no slurmd in PATH, and {TREE} is not accessible"),
    "fails slurmd": Unknown(Reason.NOT_COLLECTED, "slurmd -V failed"),
}


def leaf(name: str) -> str:
    """Convert the name of a Slurm parameter to snake case: ConstrainRAMSpace becomes constrain_ram_space."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


# Only these lines: slurm.conf may contain the accounting password. The daemon prints its version and does not start.
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
        "scheduler.slurm.version": version("dotted", "slurmd's version; absent if neither in PATH nor in /opt/slurm."),
        **{
            f"scheduler.slurm.file.{name.partition('.')[0]}": flag(f"Whether the node has its own {name}.")
            for name in FILES
        },
        **{
            f"scheduler.slurm.{leaf(name)}": setting(
                f"{name} in the node's slurm.conf, as the cluster's administrators set it."
            )
            for name in CONFIG
        },
        **{
            f"scheduler.slurm.{leaf(name)}": text(f"{name} in cgroup.conf, which confines jobs: yes, no.")
            for name in CGROUP
        },
        "scheduler.slurm.auto_detect": text(
            "How Slurm detects the GPUs: nvml, rsmi, off; absent if gres.conf does not set it."
        ),
    },
)
def slurm(answer: str) -> Facts:
    """Read the version, then the relevant lines of each file; the names of Slurm's parameters are case-insensitive."""
    rows = read.rows(answer)
    if len(rows) < 2 or rows[-1] != END:
        raise Unreadable("the output was truncated")
    installed = reader.version(rows[0])
    if installed is None and rows[0] not in MISSING:
        raise Unreadable(f"not a version: {rows[0][:80]!r}")
    yield "scheduler.slurm.version", MISSING[rows[0]] if installed is None else installed
    settings = reader.settings(rows[1:-1], FILES)
    for file, names in FILES.items():
        yield f"scheduler.slurm.file.{file.partition('.')[0]}", settings.there(file)
        for name in names:
            yield f"scheduler.slurm.{leaf(name)}", settings.setting(file, name)
