"""/proc/mounts: what is mounted where, with blanks and similar characters written in octal; see proc_pid_mounts(5)."""

import re
from dataclasses import dataclass

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows

OF_LOGINS = "/run/user/"
"""Folder in which every login mounts a filesystem, including rackcheck's own login."""

_HIDING = regex(r"^\S+ /proc proc \S*\b(hidepid=[a-z0-9]+)", re.MULTILINE)


@dataclass(frozen=True)
class Mount:
    """One mount: its source (a device, an NFS export or a name such as `tmpfs`), its type, its options as shown."""

    source: str
    type: str
    options: str


def unescaped(field: str) -> str:
    """Replace the octal codes of blanks, tabs, newlines and backslashes by the characters."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), field)


def mounts(content: str) -> dict[str, Mount]:
    """Return the mounts by mount point, except those in /run/user; of several on one mount point, the last counts.

    Raises Unreadable if a row of /proc/mounts does not have six fields, or if /proc/mounts is empty.
    """
    found: dict[str, Mount] = {}
    for row in rows(content):
        fields = [unescaped(field) for field in row.split(" ")]
        if len(fields) != 6 or not fields[1].startswith("/"):
            raise Unreadable(f"not a mount: {row[:80]!r}")
        found[fields[1]] = Mount(fields[0], fields[2], fields[3])
    if not found:
        raise Unreadable("no mounts at all")
    return {point: mount for point, mount in found.items() if not point.startswith(OF_LOGINS)}


def why_hidden(content: str, place: str) -> Unknown:
    """Return why a file of process 1, which every system has, is missing; `content` is that of /proc/mounts.

    With the mount option `hidepid`, /proc hides the files of process 1 from users other than root.
    """
    hiding = _HIDING.search(content)
    if hiding is not None:
        return Unknown(Reason.DENIED, f"no {place}: /proc is mounted with {hiding[1]}, which hides it from this user")
    return Unknown(Reason.NOT_COLLECTED, f"no {place}, though every system has a process 1")
