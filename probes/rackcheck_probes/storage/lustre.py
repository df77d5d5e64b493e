"""The Lustre client: its version, and its own health state."""

import re

from rackcheck import Absent, Facts, Files, Read, Reason, Sourced, Unknown, probe, read, text, version
from rackcheck.model.fact import Unreadable

KNOWN = "/proc/filesystems"
OLD, NEW = "/proc/fs/lustre", "/sys/fs/lustre"


# Unverified on hardware: the health words are those of the kernel's sysfs-fs-lustre and of Lustre's wiki, the old
# version's format is from posted listings of clients.
@probe(
    Read(KNOWN, *(f"{folder}/{name}" for folder in (OLD, NEW) for name in ("version", "health_check"))),
    gives={
        "storage.lustre.version": version("prefixed", "The Lustre client's version; absent if none is loaded."),
        "storage.lustre.health": text("healthy, NOT HEALTHY, or LBUG after a failed assertion; absent without Lustre."),
    },
)
def lustre(files: Files) -> Facts:
    """Read the version and health of the Lustre client; the facts are absent if Lustre is not loaded."""
    loaded = any(row.split()[-1:] == ["lustre"] for row in read.rows(files.text(KNOWN)))
    folder = NEW if files.has(f"{NEW}/version") or not files.has(f"{OLD}/version") else OLD
    for leaf, name, reader in (("version", "version", release), ("health", "health_check", health)):
        place = f"{folder}/{name}"
        sourced = files.read(place, reader)
        if isinstance(sourced.reading, Absent):
            mute = Unknown(Reason.NOT_COLLECTED, f"Lustre is loaded, but {place} does not exist")
            sourced = Sourced(mute if loaded else Absent("no Lustre"), KNOWN)
        yield f"storage.lustre.{leaf}", sourced


# A Lustre client's files `version` and `health_check`, in old and new format.


_WORDS = ("LBUG", "NOT HEALTHY", "healthy")
"""Health states, the worst first, because an unhealthy client may also print `healthy` for single devices."""


def release(content: str) -> str:
    """Read a version: `2.14.0_ddn85`, or `lustre: 2.10.8` of older clients; raises Unreadable on any other text."""
    match = re.match(r"(?:lustre: )?([0-9][\w.-]{0,60})\s", content + "\n")
    if match is None:
        raise Unreadable(f"not a version of Lustre: {content[:80]!r}")
    return match[1]


def health(content: str) -> str:
    """Return the worst health state in the text; raises Unreadable if the text contains no health state."""
    words = [word for word in _WORDS if word in content]
    if not words:
        raise Unreadable(f"not a health state of Lustre: {content[:80]!r}")
    return words[0]
