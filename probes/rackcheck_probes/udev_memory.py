"""How many memory modules udev found when the machine started: what everybody may read of firmware's table."""

import re

from rackcheck import Facts, Files, Read, Reason, Unknown, Unreadable, integer, listing, probe, quantity, text
from rackcheck.core import read

# systemd 248 and later keep the table's memory devices here; root's `dmidecode` tells more, and of older systems.
PLACE = "/run/udev/data/+dmi:id"


@probe(
    Read(PLACE),
    gives={
        "memory.modules.count": integer("Memory modules that udev found in firmware's table."),
        "memory.modules.slots": integer("Memory slots that udev found in firmware's table."),
        "memory.modules.empty": listing("Slots without a module, by the board's name for them."),
        "memory.modules.size": quantity("GiB", "Memory of all modules, before firmware takes its part."),
        "memory.modules.sizes": listing("Sizes of the modules, in GiB; one where all are alike."),
        "memory.modules.speeds": listing("Transfer rates at which modules run, in MT/s; one where all are alike."),
        "memory.modules.parts": listing("Part numbers of the modules; one where all are alike."),
        "memory.modules.correction": text("How the memory corrects errors: Multi-bit ECC, None."),
    },
)
def udev_memory(files: Files) -> Facts:
    """Read udev's note of the table; unknown where it took none: older than systemd 248, or a virtual machine."""
    found = re.findall(r"^E:(MEMORY_[A-Z0-9_]{1,60})=(.{0,200})$", files.text(PLACE), re.MULTILINE)
    slots: dict[int, dict[str, str]] = {}
    array = {key: value.strip() for key, value in found if key.startswith("MEMORY_ARRAY_")}
    for key, value in found:
        match = re.fullmatch(r"MEMORY_DEVICE_([0-9]{1,4})_(\w+)", key)
        if match is not None:
            slots.setdefault(int(match[1]), {})[match[2]] = value.strip()
    # The number of slots is the last thing that udev reads from the table.
    if array.get("MEMORY_ARRAY_NUM_DEVICES") != str(len(slots)):
        raise Unreadable(f"{PLACE} holds no memory slots, or not all of them", Reason.NOT_COLLECTED)
    empty = [slot for _, slot in sorted(slots.items()) if slot.get("PRESENT") == "0"]
    modules = [slot for slot in slots.values() if slot.get("PRESENT") != "0"]
    yield "memory.modules.slots", len(slots)
    yield "memory.modules.count", len(modules)
    yield "memory.modules.empty", tuple(slot.get("LOCATOR", "?") for slot in empty)
    if "MEMORY_ARRAY_EC_TYPE" in array:
        yield "memory.modules.correction", array["MEMORY_ARRAY_EC_TYPE"]
    for leaf, key in (("speeds", "CONFIGURED_SPEED_MTS"), ("parts", "PART_NUMBER")):
        told = {slot.get(key, "?") for slot in modules}
        untold = Unknown(Reason.NOT_COLLECTED, f"udev noted no {key} of a module")
        yield f"memory.modules.{leaf}", untold if "?" in told else tuple(sorted(told, key=read.natural))
    sizes = [read.whole(slot["SIZE"]) / (1 << 30) for slot in modules if "SIZE" in slot]
    whole, untold = len(sizes) == len(modules), Unknown(Reason.NOT_COLLECTED, "udev noted no size of a module")
    yield "memory.modules.size", sum(sizes) if whole else untold
    yield "memory.modules.sizes", tuple(f"{size:g}" for size in sorted(set(sizes))) if whole else untold
