"""/proc/PID/mountstats: the statistics of each NFS mount; other filesystems have one row each, without statistics."""

from collections.abc import Iterator
from dataclasses import dataclass

from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows
from rackcheck.parse.host.storage.proc_mounts import unescaped

_DEVICE = regex(r"device (\S{1,4096}) mounted on (\S{1,4096}) with fstype (nfs4?)(?: statvers=\S{1,20})?")
_OPERATION = regex(r"\s+([A-Z0-9_]{1,40}):((?: [0-9]{1,20}){3,})")
_AGE = regex(r"\s+age:\s+([0-9]{1,20})")


@dataclass(frozen=True)
class Mount:
    """One NFS mount: its mount point, its number of requests that timed out, and its age in seconds."""

    point: str
    timeouts: int
    age: float


def nfs_mounts(content: str) -> Iterator[Mount]:
    """Yield the NFS mounts; at a mount without age or operations, raises Unreadable after yielding the earlier mounts.

    In the row of an NFS operation, the first number counts requests, the second transmissions, the third timeouts.
    """
    for point, items in _parts(rows(content)):
        operations = [match for row in items if (match := _OPERATION.fullmatch(row))]
        age = next((match for row in items if (match := _AGE.fullmatch(row))), None)
        if age is None or not operations:
            raise Unreadable(f"the output for {point} has no age, or no operations")
        yield Mount(point, sum(int(operation[2].split()[2]) for operation in operations), float(age[1]))


def _parts(every: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Split the rows of mountstats into NFS mounts; yield the mount point and the rows of each."""
    point, of_mount = "", list[str]()
    for row in (*every, "device end mounted on / with fstype end"):
        if row.startswith("device "):
            if point:
                yield point, of_mount
            match = _DEVICE.fullmatch(row)
            point, of_mount = unescaped(match[2]) if match else "", []
        else:
            of_mount.append(row)
