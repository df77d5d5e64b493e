"""How often requests to NFS servers timed out."""

from rackcheck import Class, Facts, Files, Read, integer, probe, quantity, spell_key
from rackcheck.parse.host.storage import mountstats
from rackcheck.parse.host.storage.proc_mounts import OF_LOGINS

PLACE = "/proc/self/mountstats"


@probe(
    Read(PLACE, cap=4 << 20),
    gives={
        "mount/*.nfs.timeouts": integer(
            "Requests since the mount that got no reply within the major timeout.", Class.COUNTER
        ),
        "mount/*.nfs.age": quantity("s", "Time since the mount.", Class.COUNTER),
    },
)
def nfs_timeouts(files: Files) -> Facts:
    """Yield each NFS mount's timeouts, added up over all its operations; mounts created by logins are left out."""
    for mount in mountstats.nfs_mounts(files.text(PLACE)):
        if not mount.point.startswith(OF_LOGINS):
            yield f"mount/{spell_key(mount.point)}.nfs.timeouts", mount.timeouts
            yield f"mount/{spell_key(mount.point)}.nfs.age", mount.age
