"""Memory modules of a host; the memory of its GPUs is not included."""

from collections.abc import Mapping, Sequence

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.model.redfish_value import HEALTH, health
from rackcheck.model.resource import Resource
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.host import Gathered, Machine, boards, lost_board
from rackcheck.parse.bmc.item import fitted, gather, health_of
from rackcheck.parse.bmc.merge import hidden, merged, together, unread
from rackcheck.parse.bmc.systems import agreed, below, entries, gibibytes, has_some, some

STACKED = ("HBM", "GDDR")
"""Prefixes of Redfish's MemoryDeviceType for memory that is soldered to a GPU."""

RATES = 64
"""Maximum number of allowed speeds of one memory module."""


def modules(docs: Documents, machine: Machine) -> Gathered:
    """Return the memory modules of the host, also those that only another system lists, each once; no GPU memory.

    Most BMCs do not list GPU memory among the memory of a host, and some of these BMCs report no type for any module.
    If a BMC lists GPU memory too, a module without a type makes the list incomplete, because it may be GPU memory,
    unless the other modules add up to the host's total. If the BMC manages several hosts, no module is returned.
    """
    if machine.doubt is not None:
        return [], machine.doubt

    def complete(found: Sequence[Resource]) -> bool:
        size = _sum(found)
        return size is not None and any(_total(system) == size for system in machine.hosts)

    found, trouble = below(docs, machine.own, "Memory")
    kept = [each for each in found if not _of_gpu(each)]
    if len(kept) < len(found):
        trouble = trouble or _untyped(kept)
    systems, unsure = boards(docs, machine)
    listing = [each for each in systems if "Memory" in each.body]
    held = [below(docs, [each], "Memory") for each in listing]
    others, cut = together(([each for each in listed if not _of_gpu(each)], lost) for listed, lost in held)
    typed = [each for each in others if not _untyped([each])]
    cut = unsure or cut
    if not kept and not complete(typed):
        cut = cut or _untyped(others)
    lost = unread(held) or hidden((gather(docs.at("Memory/*", each))[0] for each in listing), _of_gpu)
    lost = lost or lost_board(docs)
    return has_some(*merged((kept, trouble), (typed, cut), complete, lost), "memory")


def _untyped(found: Sequence[Resource]) -> Unknown | None:
    """Return why modules may be GPU memory: the first one in use that reports no type; None if all do."""
    for each in found:
        missing = isinstance(each.read("MemoryDeviceType").reading, Unknown)
        if missing and each.read("Status.State").reading != "Absent":
            return Unknown(Reason.NOT_COLLECTED, f"{each.uri} reports no type, and may be a GPU's memory")
    return None


def total(machine: Machine, found: Gathered) -> Sourced | Unknown:
    """Return the memory of the host in GiB, as its system reports it, or else the sum of all its modules."""
    sourced = agreed((list(machine.hosts), machine.trouble), "MemorySummary.TotalSystemMemoryGiB", some)
    silent = isinstance(sourced, Sourced) and isinstance(sourced.reading, Unknown)
    size = _sum(found[0]) if silent and machine.doubt is None and found[1] is None else None
    return sourced if size is None else Sourced(size, f"the sum of {len(_installed(found[0]))} modules")


def health_of_all(machine: Machine, found: Gathered) -> Sourced | Unknown:
    """Return the health of all memory together, as the system reports it, or else the worst health of its modules.

    It is unknown if a module reports no health; an empty slot has none.
    """
    sourced = agreed((list(machine.hosts), machine.trouble), "MemorySummary.Status.HealthRollup", health)
    silent = isinstance(sourced, Sourced) and isinstance(sourced.reading, Unknown)
    if not silent or machine.doubt is not None or found[1] is not None:
        return sourced
    rows = [health_of(each) for each in _installed(found[0])]
    if not rows or any(row.reading not in HEALTH for row in rows):
        return sourced
    return max(rows, key=lambda row: HEALTH.index(str(row.reading)))


def _total(system: Resource) -> Reading:
    return system.read("MemorySummary.TotalSystemMemoryGiB", some).reading


def _installed(found: Sequence[Resource]) -> list[Resource]:
    return [each for each in found if each.read("Status.State").reading != "Absent"]


def _sum(found: Sequence[Resource]) -> float | None:
    """Return the size of all modules that are not absent, in GiB; None if one is unknown, or if there is none."""
    sizes = [each.read("CapacityMiB", gibibytes).reading for each in _installed(found)]
    known = [size for size in sizes if isinstance(size, float)]
    return sum(known) if known and len(known) == len(sizes) else None


def _of_gpu(memory: Resource) -> bool:
    reading = memory.read("MemoryDeviceType").reading
    return isinstance(reading, str) and reading.upper().startswith(STACKED)


def is_cxl(memory: Resource) -> bool:
    """Return whether a module is memory on CXL: it has properties in the object `CXL` of DMTF's schema Memory."""
    properties = memory.body.get("CXL")
    return isinstance(properties, Mapping) and any(value is not None for value in properties.values())


def rated(memory: Resource) -> Sourced:
    """Return the highest allowed speed of a memory module; unknown if the list is missing or empty, as on most BMCs."""
    return fitted(memory, "AllowedSpeedsMHz", _highest)


def _highest(value: object) -> float:
    return max(some(rate) for rate in entries(value, RATES))


def locator(memory: Resource) -> Sourced:
    """Read the name that the board gives to a memory slot; an empty slot has a name too."""
    older = "DeviceLocator" in memory.body
    return memory.read("DeviceLocator" if older else "Location.PartLocation.ServiceLabel")
