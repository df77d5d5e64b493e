"""Software RAID arrays and their members."""

from collections.abc import Iterable

from rackcheck import (
    Absent,
    Class,
    Facts,
    Files,
    Read,
    Sourced,
    collection,
    flag,
    integer,
    probe,
    read,
    spell_key,
    text,
)
from rackcheck.model.fact import Reading, Reason, Unknown, Unreadable
from rackcheck.model.text.values import line, whole

FOLDER = "/sys/block/{}/md"
NAMES = ("array_state", "level", "metadata_version", "raid_disks", "degraded", "sync_action", "mismatch_cnt")
MEMBERS = f"{FOLDER.format('*')}/dev-*/state"


@probe(
    Read(*(f"{FOLDER.format('*')}/{name}" for name in NAMES), MEMBERS),
    gives={
        "storage.md": collection("Software RAID arrays by the kernel's name: md0."),
        "storage.md/*.works": flag(
            "Whether the array is assembled and can be read; absent for a container of other arrays."
        ),
        "storage.md/*.state": text("The array's state: clean, active, read-auto, inactive, broken.", Class.MEASUREMENT),
        "storage.md/*.level": text("raid0, raid1, raid5, raid6, raid10, linear; absent for a container of arrays."),
        "storage.md/*.devices": integer("Members of the complete array."),
        "storage.md/*.active": integer("Members that hold their part of the data (in sync)."),
        "storage.md/*.failed": integer("Members that the kernel marked as failed."),
        "storage.md/*.spare": integer("Spares, including those being rebuilt."),
        "storage.md/*.degraded": integer("Members that are missing; absent for levels without redundancy."),
        "storage.md/*.sync": text(
            "Operation on the array: idle, check, recover, resync, reshape, frozen; absent without redundancy.",
            Class.MEASUREMENT,
        ),
        "storage.md/*.mismatches": integer(
            "Mismatched sectors in the last check; absent without redundancy.", Class.COUNTER
        ),
    },
)
def md(files: Files) -> Facts:
    """Read each array as the kernel shows it in sysfs."""
    members: dict[str, list[Reading]] = {}
    for array, device in files.found(MEMBERS):
        members.setdefault(array, []).append(files.read(f"{FOLDER.format(array)}/dev-{device}/state").reading)
    for (array,) in files.found(FOLDER.format("*") + "/array_state"):
        item, folder, states = f"storage.md/{spell_key(array)}", FOLDER.format(array), members.get(array, [])
        level = f"{folder}/level"
        holds = is_container(files.read(f"{folder}/metadata_version").reading)
        container = Sourced(Absent("the array is a container of other arrays"), level)
        yield f"{item}.works", container if holds else files.read(f"{folder}/array_state", works)
        yield f"{item}.state", files.read(f"{folder}/array_state")
        yield f"{item}.level", container if holds and not files.contents.get(level, "").strip() else files.read(level)
        yield f"{item}.devices", files.read(f"{folder}/raid_disks", devices)
        for leaf, word in (("active", "in_sync"), ("failed", "faulty"), ("spare", "spare")):
            yield f"{item}.{leaf}", having(word, states)
        yield f"{item}.degraded", files.read(f"{folder}/degraded", read.whole)
        yield f"{item}.sync", files.read(f"{folder}/sync_action")
        yield f"{item}.mismatches", files.read(f"{folder}/mismatch_cnt", read.whole)


# The kernel's files of a software RAID array, /sys/block/*/md: the states of the array and of its members.


WORKS = {"clear": False, "inactive": False, "suspended": False, "broken": False, "readonly": True, "read-auto": True,
         "clean": True, "active": True, "write-pending": True, "active-idle": True}  # fmt: skip
"""Maps each state of an array that the kernel documents to whether the array's data can be read."""


def works(content: str) -> bool:
    """Whether the array can be read, by its state; raises Unreadable on a state that the kernel does not document."""
    state = line(content)
    if state not in WORKS:
        raise Unreadable(f"not a state of an array: {state[:80]!r}")
    return WORKS[state]


def devices(content: str) -> int:
    """Read the number of members: `4`, or `4 (3)` while an array is reshaped from three members to four."""
    return whole(line(content).partition(" (")[0])


def is_container(metadata: Reading) -> bool:
    """Whether an array is a container of other arrays, from the version of its metadata.

    A container has only metadata, for the arrays in it; the metadata version of such an array is, for example,
    `external:/md127/0`.
    """
    return isinstance(metadata, str) and metadata.startswith("external:") and not metadata.startswith("external:/")


def having(word: str, states: Iterable[Reading]) -> int | Unknown:
    """Count the members whose state (`faulty,write_error`) contains `word`; unknown if a member's state is unknown."""
    rows = list(states)
    if any(isinstance(state, Unknown) for state in rows):
        return Unknown(Reason.NOT_COLLECTED, "a member's state is unknown")
    return sum(word in str(state).split(",") for state in rows)
