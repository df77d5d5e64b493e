"""The kernel's folders of NVMe controllers, /sys/class/nvme: the controllers' names and PCI addresses."""

from collections.abc import Iterable

from rackcheck.model.fact import Absent, Sourced
from rackcheck.model.regex import regex
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import natural

FOLDER = "/sys/class/nvme/{}"

_ADDRESS = regex(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


def controllers(files: Files, names: Iterable[str]) -> list[str]:
    """Return the NVMe controllers that have at least one of the files in `names`, in numeric order."""
    found = {controller for name in names for (controller,) in files.found(f"{FOLDER.format('*')}/{name}")}
    return sorted(found, key=natural)


def pci(files: Files, controller: str) -> Sourced:
    """Return an NVMe controller's PCI address; absent if the controller is not on PCIe but reached over a network."""
    address = files.read(f"{FOLDER.format(controller)}/address")
    reading = address.reading
    elsewhere = isinstance(reading, str) and _ADDRESS.fullmatch(reading) is None
    return Sourced(Absent("not on PCIe"), address.source) if elsewhere else address
