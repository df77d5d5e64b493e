"""Mounted filesystems."""

from rackcheck import Absent, Facts, Files, Read, collection, flag, listing, probe, spell_key, text
from rackcheck.parse.host.storage import proc_mounts

PLACE = "/proc/mounts"
MOUNTS = Read(PLACE)


@probe(
    MOUNTS,
    gives={
        "mount": collection(
            "Mount points by path; if one has several mounts, only the last is listed, which hides the others."
        ),
        "mount/*.type": text("The filesystem's type: ext4, xfs, nfs4, lustre, tmpfs."),
        "mount/*.source": text("What is mounted: a device, an export, or the filesystem's own name."),
        "mount/*.options": listing("The mount options in effect."),
        "mount/*.read_only": flag("Whether the filesystem is mounted read-only, as after an I/O error."),
    },
)
def mounts(files: Files) -> Facts:
    """Read the mounts that the session sees, except mounts created by logins."""
    for point, mount in proc_mounts.mounts(files.text(PLACE)).items():
        item, options = f"mount/{spell_key(point)}", tuple(mount.options.split(","))
        yield f"{item}.type", mount.type
        yield f"{item}.source", mount.source or Absent("no source")
        yield f"{item}.options", options
        yield f"{item}.read_only", "ro" in options
