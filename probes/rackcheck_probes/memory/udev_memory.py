"""Memory modules that udev found at boot: the part of firmware's table that every user may read."""

from rackcheck import Facts, Files, Read, Unknown, integer, listing, probe, quantity, text
from rackcheck.parse.host.os import udev_dmi

# systemd 248 and later keep the table's memory devices here; root's `dmidecode` reports more, also on older systems.
PLACE = "/run/udev/data/+dmi:id"


@probe(
    Read(PLACE),
    gives={
        "memory.modules.count": integer("Memory modules that udev found in firmware's table."),
        "memory.modules.slots": integer("Memory slots that udev found in firmware's table."),
        "memory.modules.empty": listing("Slots without a module, by the board's names."),
        "memory.modules.size": quantity("GiB", "Memory of all modules, before firmware reserves its part."),
        "memory.modules.sizes": listing("Sizes of the modules, in GiB; one value if all are equal."),
        "memory.modules.speeds": listing("Transfer rates at which modules run, in MT/s; one value if all are equal."),
        "memory.modules.parts": listing("Part numbers of the modules; one value if all are equal."),
        "memory.modules.correction": text("How the memory corrects errors: Multi-bit ECC, None."),
    },
)
def udev_memory(files: Files) -> Facts:
    """Read udev's copy of firmware's memory table; systemd before 248 has no copy, and virtual machines have none."""
    memory = udev_dmi.memory(files.text(PLACE), PLACE)
    yield "memory.modules.slots", len(memory.empty) + len(memory.modules)
    yield "memory.modules.count", len(memory.modules)
    yield "memory.modules.empty", memory.empty
    if memory.correction is not None:
        yield "memory.modules.correction", memory.correction
    yield "memory.modules.speeds", memory.each("CONFIGURED_SPEED_MTS")
    yield "memory.modules.parts", memory.each("PART_NUMBER")
    sizes = memory.sizes()
    yield "memory.modules.size", sizes if isinstance(sizes, Unknown) else sum(sizes)
    yield "memory.modules.sizes", sizes if isinstance(sizes, Unknown) else tuple(f"{s:g}" for s in sorted(set(sizes)))
