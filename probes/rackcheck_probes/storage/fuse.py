"""Requests that wait for the programs behind FUSE filesystems."""

from rackcheck import Class, Facts, Files, Read, integer, probe, read, spell_key
from rackcheck.model.regex import regex
from rackcheck.parse.host.storage.proc_mounts import OF_LOGINS, unescaped

MOUNTS, FOLDER = "/proc/self/mountinfo", "/sys/fs/fuse/connections/{}"
ROW = regex(r"[0-9]{1,20} [0-9]{1,20} ([0-9]{1,7}):([0-9]{1,7}) \S+ (/\S*) .* - fuse(?:blk)?(?:\.\S*)? \S+ \S+")


# Unverified on hardware, and from memory: a connection has the number of the mount's device.
@probe(
    Read(MOUNTS, f"{FOLDER.format('*')}/waiting", f"{FOLDER.format('*')}/congestion_threshold"),
    gives={
        "mount/*.fuse.waiting": integer(
            "Requests that the filesystem's program has not answered; only its owner and root can read the number.",
            Class.MEASUREMENT,
        ),
        "mount/*.fuse.congestion_threshold": integer(
            "Number of waiting requests at which the kernel treats the filesystem as congested."
        ),
    },
)
def fuse(files: Files) -> Facts:
    """Read the waiting requests of each FUSE mount; the kernel numbers a mount's connection by its device."""
    for row in read.rows(files.text(MOUNTS)):
        match = ROW.fullmatch(row)
        if match and not unescaped(match[3]).startswith(OF_LOGINS):
            connection = FOLDER.format((int(match[1]) << 20) + int(match[2]))
            for leaf in ("waiting", "congestion_threshold"):
                yield (
                    f"mount/{spell_key(unescaped(match[3]))}.fuse.{leaf}",
                    files.read(f"{connection}/{leaf}", read.whole),
                )
