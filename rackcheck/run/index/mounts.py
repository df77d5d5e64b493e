"""On which file system a path lies: SQLite's write-ahead log needs memory that all its processes share.

Known on Linux alone, from `/proc/self/mountinfo`; on other systems nothing is known, and everything is allowed.
"""

import re
from dataclasses import dataclass

NETWORK = frozenset({
    "9p", "acfs", "afs", "auristorfs", "beegfs", "ceph", "cifs", "coda", "davfs", "davfs2", "fhgfs", "gfs", "gfs2",
    "glusterfs", "gpfs", "ibrix", "lustre", "ncp", "ncpfs", "nfs", "nfs4", "ocfs2", "panfs", "pvfs2", "smb3", "smbfs",
    "snfs", "sshfs", "virtiofs", "vmhgfs", "wekafs",
})  # fmt: skip
"""Types whose files another machine may change at the same time.

From systemd's `fstype_is_network` (src/basic/mountpoint-util.c), gnulib's `ME_REMOTE` (lib/mountlist.c) and the types
that coreutils' `stat` calls remote (src/stat.c). From memory, not found in those lists: 9p, beegfs, davfs2, virtiofs,
wekafs. https://www.sqlite.org/wal.html says that all processes must be on one machine.
"""


@dataclass(frozen=True, slots=True)
class Mount:
    """A file system as mounted: where, of which type, from what."""

    point: str
    type: str
    source: str

    @property
    def network(self) -> bool:
        """Whether other machines may share it: by its type, or as its source is `server:/path` or `//server/path`."""
        kind = self.type.removeprefix("fuse.")
        return kind in NETWORK or re.match(r"//|[^/]+:/", self.source) is not None


def mount_of(path: str, mountinfo: str) -> Mount | None:
    """Give the mount that an absolute, resolved path lies on; None where the text tells of none.

    The longest mount point above the path counts, and of several at one point the last: it hides those below it.
    """
    best: Mount | None = None
    for line in mountinfo.splitlines():
        mount = _mount(line)
        if mount is None or not _below(path, mount.point):
            continue
        if best is None or len(mount.point) >= len(best.point):
            best = mount
    return best


def _mount(line: str) -> Mount | None:
    """Read `36 35 98:0 /root /point options [tags] - type source options`; None for anything else."""
    head, mark, tail = line.partition(" - ")
    left, right = head.split(" "), tail.split(" ")
    if not mark or len(left) < 6 or len(right) < 2:
        return None
    return Mount(_unescaped(left[4]), right[0], _unescaped(right[1]))


def _unescaped(text: str) -> str:
    """The kernel writes blank, tab, line feed and backslash as three octal digits."""
    return re.sub(r"\\([0-3][0-7]{2})", lambda m: chr(int(m[1], 8)), text)


def _below(path: str, point: str) -> bool:
    return path == point or path.startswith(point.rstrip("/") + "/")
