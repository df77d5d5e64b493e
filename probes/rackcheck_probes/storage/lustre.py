"""The Lustre client: its version, and whether it holds itself for healthy."""

import re

from rackcheck import Absent, Facts, Files, Read, Reason, Sourced, Unknown, probe, text, version
from rackcheck.model import text as read
from rackcheck.model.fact import Unreadable

KNOWN = "/proc/filesystems"
OLD, NEW = "/proc/fs/lustre", "/sys/fs/lustre"


# Unverified on hardware: the words of health are those of the kernel's sysfs-fs-lustre and of Lustre's wiki, the old
# version's those of listings that clients posted.
@probe(
    Read(KNOWN, *(f"{folder}/{name}" for folder in (OLD, NEW) for name in ("version", "health_check"))),
    gives={
        "storage.lustre.version": version("prefixed", "The Lustre client's version; absent where none is loaded."),
        "storage.lustre.health": text("healthy, NOT HEALTHY, or LBUG after a failed assertion; absent without Lustre."),
    },
)
def lustre(files: Files) -> Facts:
    """Read the client's files where the kernel knows the filesystem."""
    loaded = any(row.split()[-1:] == ["lustre"] for row in read.rows(files.text(KNOWN)))
    folder = NEW if files.has(f"{NEW}/version") or not files.has(f"{OLD}/version") else OLD
    for leaf, name, reader in (("version", "version", release), ("health", "health_check", health)):
        place = f"{folder}/{name}"
        sourced = files.read(place, reader)
        if isinstance(sourced.reading, Absent):
            mute = Unknown(Reason.NOT_COLLECTED, f"Lustre is loaded, and there is no {place}")
            sourced = Sourced(mute if loaded else Absent("no Lustre"), KNOWN)
        yield f"storage.lustre.{leaf}", sourced


# What a Lustre client says of itself in its files `version` and `health_check`, of either age.


_WORDS = ("LBUG", "NOT HEALTHY", "healthy")
"""The worst first: an ill client may hold healthy devices."""


def release(content: str) -> str:
    """Read `2.14.0_ddn85`, or the first line `lustre: 2.10.8` of older clients; raises Unreadable on anything else."""
    match = re.match(r"(?:lustre: )?([0-9][\w.-]{0,60})\s", content + "\n")
    if match is None:
        raise Unreadable(f"not a version of Lustre: {content[:80]!r}")
    return match[1]


def health(content: str) -> str:
    """Give the word, which older clients put behind the device that is ill; raises Unreadable where there is none."""
    words = [word for word in _WORDS if word in content]
    if not words:
        raise Unreadable(f"no word of Lustre's health: {content[:80]!r}")
    return words[0]
