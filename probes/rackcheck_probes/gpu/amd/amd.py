"""AMD GPUs in sysfs: where the amdgpu driver shows them, and tables of one fact a file."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rackcheck import Facts, Files, Read, Reason, Unknown, spell_key
from rackcheck.model.catalogue import Kind
from rackcheck.model.fact import Value

BUS = "/sys/bus/pci/devices/*/{}"
AMD, GPU = "0x1002", re.compile(r"0x03[0-9a-f]{4}|0x1200[0-9a-f]{2}")
"""AMD's vendor id; the classes of displays and of processing accelerators, which an MI300X is."""

DEVICE = "/sys/bus/pci/drivers/amdgpu/{}"
"""A GPU that the driver runs, by its PCI address: links of sysfs, followed by their globs."""

GPUS = (BUS.format("vendor"), BUS.format("class"), DEVICE.format("*") + "/vendor")
"""The files by which the GPUs are known: those of the bus, and those of the driver."""

NOT_RUN = Unknown(Reason.NOT_READY, "amdgpu does not run it")


def bound(files: Files) -> frozenset[str]:
    """Give the addresses of the GPUs that the driver runs."""
    return frozenset(address for (address,) in files.found(GPUS[-1]))


def gpus(files: Files) -> Iterator[tuple[str, str, bool]]:
    """Give the fact path and the folder of each GPU of the bus, and whether the driver runs it."""
    running = bound(files)
    for (address,) in files.found(GPUS[0]):
        vendor, kind = (files.text(BUS.replace("*", address).format(name)).strip() for name in ("vendor", "class"))
        if vendor == AMD and GPU.fullmatch(kind):
            yield f"gpu.amd/{spell_key(address)}", DEVICE.format(address), address in running


@dataclass(frozen=True)
class SysfsFact:
    """One thing that the driver shows: its file below the device's folder, how it is read, and what fact it is."""

    file: str
    convert: Callable[[str], Value]
    kind: Kind


SysfsTable = Mapping[str, SysfsFact]
"""Facts of one GPU by their path below it."""


def gives(table: SysfsTable) -> dict[str, Kind]:
    """Give what a probe promises with a table."""
    return {f"gpu.amd/*.{leaf}": shown.kind for leaf, shown in table.items()}


def question(table: SysfsTable) -> Read:
    """Ask for the files of a table, of every GPU that the driver runs."""
    return Read(*GPUS, *(f"{DEVICE.format('*')}/{shown.file}" for shown in table.values()), cap=4 << 20)


def of_gpus(files: Files, table: SysfsTable) -> Facts:
    """Read the same files of every GPU; one that its driver does not have is absent."""
    for item, folder, running in gpus(files):
        for leaf, shown in table.items():
            yield f"{item}.{leaf}", files.read(f"{folder}/{shown.file}", shown.convert) if running else NOT_RUN
