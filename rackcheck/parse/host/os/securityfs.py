"""Files of the kernel's security file system: where it is not mounted, its folder is there and empty."""

from collections.abc import Callable

from rackcheck.model.fact import Absent, Reason, Sourced, Unknown, Value
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import rows

FOLDER, MOUNTS = "/sys/kernel/security", "/proc/mounts"


def read(files: Files, place: str, reader: Callable[[str], Value]) -> Sourced:
    """Read one of its files: absent where the file system is mounted and has none, unknown where it is not mounted.

    /proc/mounts must have been asked for too; the reader may raise Unreadable.
    """
    sourced = files.read(place, reader)
    if not isinstance(sourced.reading, Absent):
        return sourced
    mounted = files.read(MOUNTS, _mounted)
    if mounted.reading is True:
        return sourced
    lost = Unknown(Reason.NOT_COLLECTED, f"no securityfs is mounted on {FOLDER}")
    return Sourced(mounted.reading if isinstance(mounted.reading, Unknown) else lost, MOUNTS)


def _mounted(content: str) -> bool:
    return any(row.split(" ")[1:3] == [FOLDER, "securityfs"] for row in rows(content))
