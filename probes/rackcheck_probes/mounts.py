"""What is mounted where."""

import re

from rackcheck import Absent, Facts, Files, Read, Unreadable, collection, flag, listing, probe, spell_key, text
from rackcheck.core import read

PLACE = "/proc/mounts"
MOUNTS = Read(PLACE)
OF_LOGINS = "/run/user/"
"""What every login mounts, ours too."""


def unescaped(field: str) -> str:
    """Put blanks, tabs, newlines and backslashes back for their octal codes."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), field)


def table(content: str) -> dict[str, list[str]]:
    """Give the six fields of each mount by its point, but for those that logins make; raises Unreadable."""
    found: dict[str, list[str]] = {}
    for row in read.rows(content):
        fields = [unescaped(field) for field in row.split(" ")]
        if len(fields) != 6 or not fields[1].startswith("/"):
            raise Unreadable(f"not a mount: {row[:80]!r}")
        found[fields[1]] = fields
    if not found:
        raise Unreadable("no mounts at all")
    return {point: fields for point, fields in found.items() if not point.startswith(OF_LOGINS)}


@probe(
    MOUNTS,
    gives={
        "mount": collection("Mount points by path; of several mounts on one point the last, which hides the others."),
        "mount/*.type": text("The filesystem's type: ext4, xfs, nfs4, lustre, tmpfs."),
        "mount/*.source": text("What is mounted: a device, an export, or the filesystem's own word."),
        "mount/*.options": listing("The mount options in effect."),
        "mount/*.read_only": flag("Whether it is mounted read-only, as after an I/O error."),
    },
)
def mounts(files: Files) -> Facts:
    """Read the mounts that the session sees, but for those that logins make."""
    for point, (source, _, kind, options, *_) in table(files.text(PLACE)).items():
        item = f"mount/{spell_key(point)}"
        yield f"{item}.type", kind
        yield f"{item}.source", source or Absent("no source")
        yield f"{item}.options", tuple(options.split(","))
        yield f"{item}.read_only", "ro" in options.split(",")
