"""The version of control groups in use."""

import re

from rackcheck import Absent, Facts, Files, Read, Sourced, integer, listing, probe

UNIFIED, MOUNTS = "/sys/fs/cgroup/cgroup.controllers", "/proc/mounts"


@probe(
    Read(UNIFIED, MOUNTS),
    gives={
        "os.cgroup.version": integer(
            "The version of control groups: 2 (one unified tree), 1 (a tree per controller, or both versions)."
        ),
        "os.cgroup.controllers": listing("The controllers of version 2: cpuset, cpu, memory; absent under version 1."),
    },
)
def cgroup(files: Files) -> Facts:
    """Read the controllers of cgroup version 2; if version 2 is not mounted, check for mounts of version 1."""
    yield "os.cgroup.controllers", files.read(UNIFIED, lambda content: tuple(content.split()))
    if files.has(UNIFIED):
        yield "os.cgroup.version", Sourced(2, UNIFIED)
    else:
        old = re.search(r"^\S{1,200} /sys/fs/cgroup\S{0,200} cgroup ", files.text(MOUNTS), re.MULTILINE)
        yield "os.cgroup.version", Sourced(1 if old else Absent("no cgroup is mounted"), MOUNTS)
