"""How often NFS servers let requests wait too long."""

import re
from collections.abc import Iterator

from rackcheck import Class, Facts, Files, Read, Unreadable, integer, probe, quantity, spell_key
from rackcheck.core import read
from rackcheck_probes.mounts import OF_LOGINS, unescaped

PLACE = "/proc/self/mountstats"
DEVICE = re.compile(r"device (\S{1,4096}) mounted on (\S{1,4096}) with fstype (nfs4?)(?: statvers=\S{1,20})?")
OPERATION = re.compile(r"\s+([A-Z0-9_]{1,40}):((?: [0-9]{1,20}){3,})")
AGE = re.compile(r"\s+age:\s+([0-9]{1,20})")


def mounts(rows: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Part the file into NFS mounts, each with its rows; other filesystems have one row each, and no numbers."""
    point, of_mount = "", list[str]()
    for row in (*rows, "device end mounted on / with fstype end"):
        if row.startswith("device "):
            if point:
                yield point, of_mount
            match = DEVICE.fullmatch(row)
            point, of_mount = unescaped(match[2]) if match else "", []
        else:
            of_mount.append(row)


@probe(
    Read(PLACE, cap=4 << 20),
    gives={
        "mount/*.nfs.timeouts": integer(
            "Requests that got no answer within the major timeout since the mount.", Class.COUNTER
        ),
        "mount/*.nfs.age": quantity("s", "How long it has been mounted.", Class.COUNTER),
    },
)
def nfs_timeouts(files: Files) -> Facts:
    """Add up the third number of each operation's row: requests, transmissions, timeouts."""
    for point, rows in mounts(read.rows(files.text(PLACE))):
        operations = [match for row in rows if (match := OPERATION.fullmatch(row))]
        age = next((match for row in rows if (match := AGE.fullmatch(row))), None)
        if age is None or not operations:
            raise Unreadable(f"{point}: no age, or no operations")
        if not point.startswith(OF_LOGINS):
            yield f"mount/{spell_key(point)}.nfs.timeouts", sum(int(o[2].split()[2]) for o in operations)
            yield f"mount/{spell_key(point)}.nfs.age", float(age[1])
