"""Requests that wait for the programs behind FUSE filesystems."""

import re

from rackcheck import Class, Facts, Files, Read, integer, probe, spell_key
from rackcheck.model import text as read
from rackcheck.parse.host.storage.proc_mounts import OF_LOGINS, unescaped

MOUNTS, FOLDER = "/proc/self/mountinfo", "/sys/fs/fuse/connections/{}"
ROW = re.compile(r"[0-9]{1,20} [0-9]{1,20} ([0-9]{1,7}):([0-9]{1,7}) \S+ (/\S*) .* - fuse(?:blk)?(?:\.\S*)? \S+ \S+")


# Unverified on hardware, and from memory: that a connection bears the number of the mount's device.
@probe(
    Read(MOUNTS, f"{FOLDER.format('*')}/waiting", f"{FOLDER.format('*')}/congestion_threshold"),
    gives={
        "mount/*.fuse.waiting": integer(
            "Requests that wait for the filesystem's program or are with it; only its owner and root see it.",
            Class.MEASUREMENT,
        ),
        "mount/*.fuse.congestion_threshold": integer("Waiting requests at which the kernel calls it congested."),
    },
)
def fuse(files: Files) -> Facts:
    """Read the connection of each FUSE mount, which bears the number of its device."""
    for row in read.rows(files.text(MOUNTS)):
        match = ROW.fullmatch(row)
        if match and not unescaped(match[3]).startswith(OF_LOGINS):
            connection = FOLDER.format((int(match[1]) << 20) + int(match[2]))
            for leaf in ("waiting", "congestion_threshold"):
                yield (
                    f"mount/{spell_key(unescaped(match[3]))}.fuse.{leaf}",
                    files.read(f"{connection}/{leaf}", read.whole),
                )
