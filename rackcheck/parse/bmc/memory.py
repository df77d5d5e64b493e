"""Memory modules of a host; the memory of its GPUs is not included."""

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import Resource
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.item import fitted
from rackcheck.parse.bmc.systems import Gathered, below, entries, has_some, some

STACKED = ("HBM", "GDDR")
"""Prefixes of Redfish's MemoryDeviceType for memory that is soldered to a GPU."""

RATES = 64
"""Maximum number of allowed speeds of one memory module."""


def modules(docs: Documents, hosts: Gathered) -> Gathered:
    """Return the memory modules of the hosts, without GPU memory.

    Most BMCs do not list GPU memory among the memory of a host, and some of these BMCs report no type for any module.
    If a BMC lists GPU memory too, a module without a type makes the list incomplete, because it may be GPU memory.
    """
    systems, trouble = hosts
    found, cut = below(docs, systems, "Memory")
    kept = [each for each in found if not _of_gpu(each)]
    trouble = trouble or cut
    if len(kept) < len(found):
        for each in kept:
            missing = isinstance(each.read("MemoryDeviceType").reading, Unknown)
            if missing and each.read("Status.State").reading != "Absent":
                why = f"{each.uri} reports no type, and may be a GPU's memory"
                trouble = trouble or Unknown(Reason.NOT_COLLECTED, why)
    return has_some(kept, trouble, "memory")


def _of_gpu(memory: Resource) -> bool:
    reading = memory.read("MemoryDeviceType").reading
    return isinstance(reading, str) and reading.upper().startswith(STACKED)


def rated(memory: Resource) -> Sourced:
    """Return the highest allowed speed of a memory module; unknown if the list is missing or empty, as on most BMCs."""
    return fitted(memory, "AllowedSpeedsMHz", _highest)


def _highest(value: object) -> float:
    return max(some(rate) for rate in entries(value, RATES))


def locator(memory: Resource) -> Sourced:
    """Read the name that the board gives to a memory slot; an empty slot has a name too."""
    older = "DeviceLocator" in memory.body
    return memory.read("DeviceLocator" if older else "Location.PartLocation.ServiceLabel")
