"""ZFS pools and their state."""

from rackcheck import (
    Absent,
    Facts,
    Files,
    Read,
    Reason,
    Sourced,
    Unreadable,
    collection,
    probe,
    read,
    spell_key,
    text,
    version,
)
from rackcheck.model.regex import regex

KNOWN, VERSION = "/proc/filesystems", "/sys/module/zfs/version"
STATES = "/proc/spl/kstat/zfs/*/state"
MUTE = regex(r"0\.[0-7]\.")
"""Matches versions of ZFS whose kernel module does not show the states of pools: only ZFS's tools show them."""


# Unverified on hardware: the files are those that Prometheus's node_exporter reads; their first version is from memory.
@probe(
    Read(KNOWN, VERSION, STATES),
    gives={
        "storage.zpool": collection("ZFS pools by name; empty if ZFS is not loaded."),
        "storage.zpool/*.state": text("ONLINE, DEGRADED, FAULTED, OFFLINE, REMOVED, UNAVAIL, SUSPENDED."),
        "storage.zfs.version": version("opaque", "The version of ZFS; absent if it is not loaded."),
    },
)
def zfs(files: Files) -> Facts:
    """Read each ZFS pool's state; raises Unreadable if the loaded version of ZFS does not show the states of pools."""
    loaded = any(row.split()[-1:] == ["zfs"] for row in read.rows(files.text(KNOWN)))
    release = files.read(VERSION)
    if loaded and (not isinstance(release.reading, str) or MUTE.match(release.reading)):
        raise Unreadable("pools were not read: ZFS is older than 0.8, or its version is unknown", Reason.NOT_COLLECTED)
    yield "storage.zfs.version", release if loaded else Sourced(Absent("ZFS is not loaded"), KNOWN)
    for (pool,) in files.found(STATES):
        yield f"storage.zpool/{spell_key(pool)}.state", files.read(STATES.replace("*", pool))
