"""udev's record of the memory devices in the firmware's table: /run/udev/data/+dmi:id (systemd 248 and later).

    E:MEMORY_ARRAY_NUM_DEVICES=2
    E:MEMORY_DEVICE_0_SIZE=34359738368
    E:MEMORY_DEVICE_1_PRESENT=0

`SIZE` is in bytes; `PRESENT` is 0 for a memory slot without a module.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import natural, whole

_ROW = regex(r"^E:(MEMORY_[A-Z0-9_]{1,60})=(.{0,200})$", re.MULTILINE)
_DEVICE = regex(r"MEMORY_DEVICE_([0-9]{1,4})_(\w+)")


@dataclass(frozen=True)
class Memory:
    """The names of the empty memory slots, the recorded properties of each module, and the type of error correction."""

    empty: tuple[str, ...]
    modules: Sequence[Mapping[str, str]]
    correction: str | None

    def each(self, key: str) -> tuple[str, ...] | Unknown:
        """Return the distinct values of one property of all memory modules; unknown if a module lacks the property."""
        names = {module.get(key, "?") for module in self.modules}
        if "?" in names:
            return Unknown(Reason.NOT_COLLECTED, f"udev recorded no {key} for one or more modules")
        return tuple(sorted(names, key=natural))

    def sizes(self) -> list[float] | Unknown:
        """Return the size of each memory module in GiB; unknown if udev recorded no size of a module.

        Raises Unreadable if the recorded size of a memory module is not a whole number.
        """
        found = [whole(module["SIZE"]) / (1 << 30) for module in self.modules if "SIZE" in module]
        if len(found) == len(self.modules):
            return found
        return Unknown(Reason.NOT_COLLECTED, "udev recorded no size for one or more modules")


def memory(content: str, place: str) -> Memory:
    """Read the content of udev's file `place`; raises Unreadable if it has no memory slots, or not all of them."""
    found = _ROW.findall(content)
    slots: dict[int, dict[str, str]] = {}
    array = {key: value.strip() for key, value in found if key.startswith("MEMORY_ARRAY_")}
    for key, value in found:
        match = _DEVICE.fullmatch(key)
        if match is not None:
            slots.setdefault(int(match[1]), {})[match[2]] = value.strip()
    # The number of slots is the last thing that udev reads from the table.
    if array.get("MEMORY_ARRAY_NUM_DEVICES") != str(len(slots)):
        raise Unreadable(f"{place} does not list all memory slots", Reason.NOT_COLLECTED)
    empty = tuple(slot.get("LOCATOR", "?") for _, slot in sorted(slots.items()) if slot.get("PRESENT") == "0")
    modules = [slot for slot in slots.values() if slot.get("PRESENT") != "0"]
    return Memory(empty, modules, array.get("MEMORY_ARRAY_EC_TYPE"))
