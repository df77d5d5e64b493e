"""Mappings of the device mapper: multipath, logical volumes, encryption."""

from rackcheck import Absent, Class, Facts, Files, Read, Sourced, flag, probe, read, spell_key, text

FOLDER = "/sys/block/{}"
ALL, NAME, UUID, SUSPENDED = (f"{FOLDER.format('*')}/{file}" for file in ("size", "dm/name", "dm/uuid", "dm/suspended"))


@probe(
    Read(ALL, NAME, UUID, SUSPENDED),
    gives={
        "storage.device/*.mapping.name": text("The mapping's name: vg0-root, mpatha.", Class.IDENTITY),
        "storage.device/*.mapping.kind": text("What created the mapping: mpath, LVM, CRYPT; absent if not reported."),
        "storage.device/*.mapping.suspended": flag("Whether the mapping is suspended: its requests wait."),
    },
)
def device_mapper(files: Files) -> Facts:
    """Read each mapping; its kind is the text before the first dash in its UUID."""
    for (device,) in files.found(NAME):
        item, folder = f"storage.device/{spell_key(device)}.mapping", FOLDER.format(device)
        place = f"{folder}/dm/uuid"
        empty = place in files.contents and not files.contents[place].strip()
        uuid = files.read(place, lambda content: read.line(content).partition("-")[0])
        yield f"{item}.name", files.read(f"{folder}/dm/name")
        yield f"{item}.kind", Sourced(Absent("the mapping has no UUID"), place) if empty else uuid
        yield f"{item}.suspended", files.read(f"{folder}/dm/suspended", read.bit)
