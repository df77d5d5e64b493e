"""GPUDirect Storage: whether its driver is loaded."""

import re

from rackcheck import Absent, Facts, Files, Read, Reason, Sourced, Unknown, Unreadable, probe, read, version
from rackcheck.parse.host.os.proc_modules import ALWAYS, MODPROBE, built_without

MODULES, PLACE = "/proc/modules", "/proc/driver/nvidia-fs/version"


def release(content: str) -> str:
    """Read the version from a line such as `version: 2.17`."""
    match = re.fullmatch(r"version: ([0-9]{1,9}(?:\.[0-9]{1,9}){1,3})", read.line(content))
    if match is None:
        raise Unreadable(f"not a version of nvidia-fs: {content[:80]!r}")
    return match[1]


# Unverified on hardware, and from memory: no source shows this file's text. A file in another format makes the fact
# unknown.
@probe(
    Read(MODULES, PLACE, ALWAYS, MODPROBE, cap=4 << 20),
    gives={"storage.gpudirect.version": version("dotted", "The version of nvidia-fs; absent if it is not loaded.")},
)
def gpudirect(files: Files) -> Facts:
    """Read the driver's version, which is absent only if the module nvidia_fs is not loaded."""
    sourced = files.read(PLACE, release)
    if isinstance(sourced.reading, Absent):
        if not files.has(MODULES):
            built_without(files)
        rows = read.rows(files.text(MODULES)) if files.has(MODULES) else []
        loaded = any(row.startswith("nvidia_fs ") for row in rows)
        mute = Unknown(Reason.NOT_COLLECTED, f"nvidia_fs is loaded, but {PLACE} does not exist")
        sourced = Sourced(mute if loaded else Absent("nvidia_fs is not loaded"), MODULES)
    yield "storage.gpudirect.version", sourced
