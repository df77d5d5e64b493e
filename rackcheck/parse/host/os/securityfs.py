"""Files of the kernel's security file system (securityfs), whose folder is empty if securityfs is not mounted."""

from collections.abc import Callable

from rackcheck.model.fact import Absent, Reason, Sourced, Unknown, Value
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import rows

FOLDER, MOUNTS = "/sys/kernel/security", "/proc/mounts"


def read(files: Files, place: str, reader: Callable[[str], Value]) -> Sourced:
    """Read a file of securityfs; absent if securityfs is mounted without this file, unknown if it is not mounted.

    `files` must also contain /proc/mounts, which shows whether securityfs is mounted; `reader` may raise Unreadable.
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
