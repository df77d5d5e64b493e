"""Resource limits of the auditing session."""

from rackcheck import Facts, Files, Read, integer, probe, quantity
from rackcheck.model.catalogue import Kind
from rackcheck.parse.host.os import proc_limits
from rackcheck.parse.host.os.proc_limits import SIDES

PLACE = "/proc/self/limits"
LIMITS = {
    "open files": ("nofile", "Files that a process may have open"),
    "processes": ("nproc", "Processes that the user may have"),
    "locked memory": ("memlock", "Memory that a process may pin, which RDMA needs"),
    "stack size": ("stack", "A process's stack"),
    "core file size": ("core", "The largest core dump"),
}


def kind(name: str, meaning: str, side: str) -> Kind:
    """Return the kind of a fact with a soft or hard resource limit of rackcheck's login session."""
    help_ = f"{meaning}: {side} limit in the auditing user's session."
    return integer(help_, unlimited=True) if name in {"nofile", "nproc"} else quantity("KiB", help_, unlimited=True)


@probe(
    Read(PLACE),
    gives={f"limits.{leaf}.{side}": kind(leaf, message, side) for leaf, message in LIMITS.values() for side in SIDES},
)
def limits(files: Files) -> Facts:
    """Read the limits of the auditing session; a job's limits may differ."""
    for limit in proc_limits.limits(files.text(PLACE), LIMITS):
        yield f"limits.{LIMITS[limit.name][0]}.{limit.side}", limit.value
