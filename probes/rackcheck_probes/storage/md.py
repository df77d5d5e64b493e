"""Software RAID arrays and their members."""

from rackcheck import Absent, Class, Facts, Files, Read, Sourced, collection, flag, integer, probe, spell_key, text
from rackcheck.model import text as read
from rackcheck.model.fact import Reading
from rackcheck.parse.host.storage import md_array

FOLDER = "/sys/block/{}/md"
NAMES = ("array_state", "level", "metadata_version", "raid_disks", "degraded", "sync_action", "mismatch_cnt")
MEMBERS = f"{FOLDER.format('*')}/dev-*/state"


@probe(
    Read(*(f"{FOLDER.format('*')}/{name}" for name in NAMES), MEMBERS),
    gives={
        "storage.md": collection("Software RAID arrays by the kernel's name: md0."),
        "storage.md/*.works": flag("Whether it is assembled and can be read; absent for a container of other arrays."),
        "storage.md/*.state": text("The array's state: clean, active, read-auto, inactive, broken.", Class.MEASUREMENT),
        "storage.md/*.level": text("raid0, raid1, raid5, raid6, raid10, linear; absent for a container of arrays."),
        "storage.md/*.devices": integer("Members that a whole array has."),
        "storage.md/*.active": integer("Members that hold their part of the data."),
        "storage.md/*.failed": integer("Members that the kernel gave up."),
        "storage.md/*.spare": integer("Members that wait, or are being filled."),
        "storage.md/*.degraded": integer("Members that are missing; absent for levels without redundancy."),
        "storage.md/*.sync": text(
            "What it does to its redundancy: idle, check, recover, resync, reshape, frozen; absent without redundancy.",
            Class.MEASUREMENT,
        ),
        "storage.md/*.mismatches": integer(
            "Sectors that the last check found different; absent without redundancy.", Class.COUNTER
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
        holds = md_array.is_container(files.read(f"{folder}/metadata_version").reading)
        container = Sourced(Absent("a container of arrays"), level)
        yield f"{item}.works", container if holds else files.read(f"{folder}/array_state", md_array.works)
        yield f"{item}.state", files.read(f"{folder}/array_state")
        yield f"{item}.level", container if holds and not files.contents.get(level, "").strip() else files.read(level)
        yield f"{item}.devices", files.read(f"{folder}/raid_disks", md_array.devices)
        for leaf, word in (("active", "in_sync"), ("failed", "faulty"), ("spare", "spare")):
            yield f"{item}.{leaf}", md_array.having(word, states)
        yield f"{item}.degraded", files.read(f"{folder}/degraded", read.whole)
        yield f"{item}.sync", files.read(f"{folder}/sync_action")
        yield f"{item}.mismatches", files.read(f"{folder}/mismatch_cnt", read.whole)
