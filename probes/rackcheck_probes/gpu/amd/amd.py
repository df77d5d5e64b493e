"""AMD GPUs in sysfs: the folders that the amdgpu driver provides, and tables with one file per fact."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rackcheck import Facts, Files, Read, Reason, Unknown, spell_key
from rackcheck.model.catalogue import Kind
from rackcheck.model.fact import Value

BUS = "/sys/bus/pci/devices/*/{}"
AMD, GPU = "0x1002", re.compile(r"0x03[0-9a-f]{4}|0x1200[0-9a-f]{2}")
"""AMD's vendor id, and the PCI classes of displays and of processing accelerators, such as an MI300X."""

DEVICE = "/sys/bus/pci/drivers/amdgpu/{}"
"""Template for the folder of a GPU that is bound to amdgpu: a symbolic link by PCI address, which globs follow."""

GPUS = (BUS.format("vendor"), BUS.format("class"), DEVICE.format("*") + "/vendor")
"""Globs of the files that identify the GPUs: on the PCI bus, and among the devices bound to the driver."""

NOT_RUN = Unknown(Reason.NOT_READY, "not bound to amdgpu")


def bound(files: Files) -> frozenset[str]:
    """Return the PCI addresses of the GPUs that are bound to the driver."""
    return frozenset(address for (address,) in files.found(GPUS[-1]))


def gpus(files: Files) -> Iterator[tuple[str, str, bool]]:
    """Yield the fact path and folder of each GPU on the PCI bus, and whether the GPU is bound to the driver."""
    running = bound(files)
    for (address,) in files.found(GPUS[0]):
        vendor, kind = (files.text(BUS.replace("*", address).format(name)).strip() for name in ("vendor", "class"))
        if vendor == AMD and GPU.fullmatch(kind):
            yield f"gpu.amd/{spell_key(address)}", DEVICE.format(address), address in running


@dataclass(frozen=True)
class SysfsFact:
    """One value of the driver: the file in the device's folder, the function that converts it, and the fact's kind."""

    file: str
    convert: Callable[[str], Value]
    kind: Kind


SysfsTable = Mapping[str, SysfsFact]
"""Maps the end of each fact's path, after `gpu.amd/KEY.`, to the file that the fact is read from."""


def gives(table: SysfsTable) -> dict[str, Kind]:
    """Return the facts that a probe provides with `table`: each fact's path, and its kind."""
    return {f"gpu.amd/*.{leaf}": shown.kind for leaf, shown in table.items()}


def question(table: SysfsTable) -> Read:
    """Request the files of a table for every GPU that is bound to the driver."""
    return Read(*GPUS, *(f"{DEVICE.format('*')}/{shown.file}" for shown in table.values()), cap=4 << 20)


def of_gpus(files: Files, table: SysfsTable) -> Facts:
    """Read the files in `table` of every AMD GPU; if the driver does not provide a file, its fact is absent."""
    for item, folder, running in gpus(files):
        for leaf, shown in table.items():
            yield f"{item}.{leaf}", files.read(f"{folder}/{shown.file}", shown.convert) if running else NOT_RUN
