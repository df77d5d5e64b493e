"""Which memory slots are filled, and with what."""

from collections import Counter

from rackcheck import Facts, Unknown, integer, listing, probe, quantity, text
from rackcheck.parse.host.memory import dmidecode_memory
from rackcheck.parse.host.os import dmidecode
from rackcheck_probes.os.dmi_table import MEMORY_ARRAY, TABLE, devices, installed


def total(sizes: list[float | Unknown]) -> float | Unknown:
    """Add up sizes; the sum is unknown if one size is unknown."""
    return next((size for size in sizes if isinstance(size, Unknown)), sum(s for s in sizes if isinstance(s, float)))


@probe(
    TABLE,
    gives={
        "memory.dimm_count": integer("Memory modules that firmware found."),
        "memory.installed": quantity("GiB", "Memory of all modules, before firmware reserves its part."),
        "memory.slots": integer("Memory slots of the board."),
        "memory.slots_empty": listing("Slots without a module, by the board's names."),
        "memory.capacity": quantity("GiB", "The maximum memory of the board."),
        "memory.ecc": text("How the memory corrects errors: Multi-bit ECC, Single-bit ECC, None."),
        "memory.channels": integer(
            "Memory channels with a module; unknown if a slot's names do not contain its channel."
        ),
        "memory.dimms_per_channel": listing("Modules per memory channel in use; one number if all channels are equal."),
    },
)
def memory_slots(answer: str) -> Facts:
    """Count the memory slots and the memory modules in them."""
    table = dmidecode.structures(answer)
    slots = dmidecode.named(devices(table), "Locator", "Bank Locator")
    filled = [device for _, device in slots if installed(device)]
    yield "memory.slots", len(slots)
    yield "memory.slots_empty", tuple(name for name, device in slots if not installed(device))
    yield "memory.dimm_count", len(filled)
    yield "memory.installed", total([device.value(dmidecode.gibibytes, "Size") for device in filled])
    arrays = [s for s in table if s.kind == MEMORY_ARRAY and s.first("Use") == "System Memory"]
    if arrays:
        yield "memory.capacity", total([array.value(dmidecode.gibibytes, "Maximum Capacity") for array in arrays])
        # `None` is a value here: an array that corrects nothing.
        kinds = {array.fields.get("Error Correction Type", "Unknown") for array in arrays}
        yield (
            "memory.ecc",
            arrays[0].missing("Error Correction Type") if "Unknown" in kinds else ", ".join(sorted(kinds)),
        )
    channels = [dmidecode_memory.channel(device) for device in filled]
    unknown = next((c for c in channels if isinstance(c, Unknown)), None)
    counts = Counter(map(str, channels))
    yield "memory.channels", len(counts) if unknown is None else unknown
    yield "memory.dimms_per_channel", tuple(map(str, sorted(set(counts.values())))) if unknown is None else unknown
