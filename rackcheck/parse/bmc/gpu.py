"""GPUs as a BMC lists them: processors of type GPU, else PCIe devices named as GPUs."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reason, Unknown, Value
from rackcheck.model.redfish_value import health, text_of, truth
from rackcheck.model.regex import regex
from rackcheck.model.resource import Resource
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.chassis import in_chassis
from rackcheck.parse.bmc.host import Gathered, machine
from rackcheck.parse.bmc.item import gather, health_of, keyed, members, reported, short, state_of
from rackcheck.parse.bmc.merge import merged
from rackcheck.parse.bmc.part import identified
from rackcheck.parse.bmc.processors import of_type
from rackcheck.parse.bmc.systems import gibibytes, has_some, some

UNLIMITED = 65535
"""The value of a 16-bit limit that means that there is no limit (SpeedLimitMHz of the recorded DGX H100)."""

CALLED = regex(r"gpu[ _-]?(sxm[ _-]?)?[0-9]{1,3}", re.IGNORECASE | re.ASCII)
"""Matches a PCIe device's Id or Name that denotes a GPU (GPU1, GPU_SXM_3), but not a riser for GPUs."""

SIDES = 16
"""Maximum number of systems of one machine whose GPUs are compared."""


@dataclass(frozen=True)
class Gpu:
    """One GPU, which the BMC lists as a processor or as a PCIe device.

    `resource` is the processor or PCIe device that represents the GPU; `device` is the PCIe device to which a processor
    links, if any.
    """

    resource: Resource
    device: Resource | None = None

    def read(self, name: str, reader: Callable[[object], Value] = text_of) -> Sourced:
        """Read a property of the processor, or of its PCIe device if the processor does not have the property.

        If the processor has the property, even with the value null, the PCIe device is not read.
        """
        sourced = self._own(name).read(name, reader)
        return sourced if name == "Status.State" else self.there(sourced)

    def label(self, name: str) -> Sourced:
        """Read a property that identifies the GPU, as `read` does; absent if it is a placeholder."""
        return self.there(identified(self._own(name), name))

    def state(self) -> Sourced:
        """Return the GPU's state, such as Absent for an empty slot; absent if the BMC reports none for it."""
        own = self._own("Status")
        return state_of(own) if "Status" in own.body else own.read("Status.State")

    @property
    def link(self) -> str:
        """The name of the property with the PCIe link: the processor's, or if that is missing, the PCIe device's."""
        own = self.resource.body.get("SystemInterface")
        return "SystemInterface.PCIe" if isinstance(own, Mapping) and "PCIe" in own else "PCIeInterface"

    def health(self) -> Sourced:
        """Return the GPU's health; absent for an empty slot, or if the BMC reports a status without a health."""
        own = self._own("Status")
        return self.there(health_of(own) if "Status" in own.body else own.read("Status.Health", health))

    def there(self, sourced: Sourced) -> Sourced:
        """Return a reading of the GPU unchanged, but absent if the slot is empty, whatever the BMC reports."""
        if self._own("Status").read("Status.State").reading == "Absent":
            return Sourced(Absent("no GPU is in this slot"), sourced.source)
        return sourced

    def _own(self, name: str) -> Resource:
        first = name.partition(".")[0]
        if self.device is None or first in self.resource.body or first not in self.device.body:
            return self.resource
        return self.device


def gpus(docs: Documents) -> tuple[list[tuple[str, Gpu]], Unknown | None]:
    """Return the GPUs of all systems, each once and with a unique name, and why the list may be incomplete.

    An empty list counts as incomplete, because most BMCs list no GPU even if the machine has GPUs. If the BMC manages
    several hosts, no GPU is returned, because it is unknown which of them belong to this node.
    """
    several = machine(docs).several
    if several is not None:
        return [], several
    systems, trouble = members(docs, "Systems")
    found, cut = of_type(docs, ([s for s in systems if "Processors" in s.body or s.unread], None), "GPU")
    found, doubt = _once(found)
    trouble = trouble or cut or doubt
    if found or (trouble is not None and not short(trouble)):
        return [(key, Gpu(each, _device(docs, each))) for key, each in keyed(found)], trouble
    devices, cut = in_chassis(docs, ("PCIeDevices", "*"))
    found, trouble = has_some([each for each in devices if _called(each)], trouble or cut, "GPU")
    return [(key, Gpu(each)) for key, each in keyed(found)], trouble


def _once(found: Sequence[Resource]) -> Gathered:
    """Return the GPUs without those that another system lists too, and why one may be counted twice.

    Of a GPU that two systems list, the resource of the system that reports more about its GPUs is returned.
    """
    sides: dict[str, list[Resource]] = {}
    for each in found:
        sides.setdefault(each.owner.uri if each.owner is not None else "", []).append(each)
    order = sorted(sides.values(), key=lambda side: -sum(len(each.body) for each in side))
    if len(order) > SIDES:
        return order[0], Unknown(Reason.NOT_READ_FURTHER, f"{len(order)} systems list GPUs; at most {SIDES} are read")
    own: Gathered = (order[0] if order else [], None)
    for side in order[1:]:
        more, doubt = merged((own[0], None), (side, None), lambda _: False)
        own = more, own[1] or doubt
    return own


def walked(docs: Documents) -> None:
    """Fetch every GPU and its memory."""
    for _, gpu in gpus(docs)[0]:
        memory(docs, gpu)


def _device(docs: Documents, processor: Resource) -> Resource | None:
    devices, _ = gather(docs.at("Links/PCIeDevice", processor))
    return next((each for each in devices if each.unread is None), None)


def _called(device: Resource) -> bool:
    names = (device.id, device.body.get("Name"))
    return any(isinstance(name, str) and CALLED.fullmatch(name.strip()) for name in names)


def remap(docs: Documents, gpu: Gpu, name: str) -> Sourced:
    """Return a flag about row remaps (`RowRemappingFailed`) of the memory that a GPU links to: true if any part has it.

    Absent if no part has the flag, which only BMCs of NVIDIA's boards return.
    """
    parts, trouble = gather(docs.at("Links/Memory/*", gpu.resource))
    flags = [reported(part, f"Oem.Nvidia.{name}", truth) for part in parts]
    if trouble is not None or not parts:
        none = trouble or Unknown(Reason.NOT_COLLECTED, f"{gpu.resource.uri} links to no memory")
        flags.append(Sourced(none, gpu.resource.uri))
    found = next((flag for flag in flags if flag.reading is True), None)
    known = [flag for flag in flags if not isinstance(flag.reading, Absent)]
    unread = next((flag for flag in known if isinstance(flag.reading, Unknown)), None)
    return gpu.there(found or unread or (known or flags)[0])


def memory(docs: Documents, gpu: Gpu) -> Sourced:
    """Return the size of all memory that a GPU links to, in GiB; unknown if there is none, or if a size is unknown."""
    parts, trouble = gather(docs.at("Links/Memory/*", gpu.resource))
    if trouble is not None or not parts:
        none = trouble or Unknown(Reason.NOT_COLLECTED, f"{gpu.resource.uri} links to no memory")
        return gpu.there(Sourced(none, gpu.resource.uri))
    sizes = [part.read("CapacityMiB", gibibytes) for part in parts]
    rows = [size.reading for size in sizes if isinstance(size.reading, float)]
    mute = next((size for size in sizes if isinstance(size.reading, Unknown)), None)
    return gpu.there(mute or Sourced(sum(rows), sizes[0].source))


def limit(value: object) -> float:
    """Return a limit; infinite if the number means that there is no limit."""
    number = some(value)
    return float("inf") if number == UNLIMITED else number
