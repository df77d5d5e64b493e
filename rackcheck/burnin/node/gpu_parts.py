# ruff: noqa: UP031  for a node: Python 3.6, and one namespace for all files
"""Finds, on the node, the CUDA device of each GPU that NVML lists: by its UUID, never by its index.

A GPU's name in the records, such as `gpu/3`, is its NVML index. NVML and CUDA number the GPUs independently of each
other: NVML keeps the index of a lost GPU, CUDA does not list it, so every later GPU has a smaller index in CUDA. A GPU
is tested only if exactly one CUDA device has its UUID, and if NVML and CUDA report the same PCI address for it.
"""

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Set, Tuple, Union

if TYPE_CHECKING:
    from rackcheck.burnin.node.cuda import CudaDriver, CudaTrouble, cuda_uuid

GpuPart = Mapping[str, str]
"""What NVML reports about one GPU: `uuid` and `pci`, each missing if unknown; `refused` is why it must not be used."""


class GpuUnable(Exception):
    """A GPU cannot be tested, and is not at fault; the message is the reason."""


class GpuDevices:
    """The CUDA devices of the node's GPUs, by NVML index.

    `peers` are the indices of the GPUs that can be tested, in ascending order; the list is the same in the process of
    each GPU. `extra` describes the GPUs that CUDA lists and NVML does not. If `parts` is empty, NVML is not used, and a
    GPU's name is its index in CUDA's list. Raises CudaTrouble if the driver does not list its GPUs.
    """

    def __init__(self, driver: "CudaDriver", count: int, parts: Mapping[int, GpuPart]) -> None:
        self._unread = ""
        listed = self._listed(driver, count)
        self._found: Dict[int, Union[int, str]] = {}
        if parts:
            for index, part in parts.items():
                self._found[index] = self._device(listed, part, parts)
        else:
            self._found.update(enumerate(device for device, _, _ in listed))
        known = {gpu_address(part.get("pci", "")) for part in parts.values()}  # also the address of MIG slices
        known.update(part.get("uuid", "").lower() for part in parts.values())
        extra = [(uuid, pci) for _, uuid, pci in listed if not known & {uuid.lower(), gpu_address(pci)}]
        self.extra = ["%s at %s" % pair for pair in extra] if parts else []
        usable = [index for index, found in self._found.items() if isinstance(found, int)]
        self.peers = sorted(index for index in usable if not parts.get(index, {}).get("refused"))

    def device(self, index: int) -> int:
        """Return the CUDA device of a GPU; raises GpuUnable if it has none."""
        found = self._found.get(index, "not listed: CUDA lists %d GPUs" % len(self._found))
        if not isinstance(found, int):
            raise GpuUnable(found)
        return found

    def _listed(self, driver: "CudaDriver", count: int) -> List[Tuple[int, str, str]]:
        """Return the device, the UUID and the PCI address of each GPU that CUDA lists and identifies."""
        listed = []
        for ordinal in range(count):
            try:
                device = driver.whole("cuDeviceGet", ordinal)
                listed.append((device, cuda_uuid(driver, device), driver.text("cuDeviceGetPCIBusId", device)))
            except CudaTrouble as trouble:
                self._unread = "; CUDA does not identify its device %d: %s" % (ordinal, trouble)
        return listed

    def _device(
        self, listed: List[Tuple[int, str, str]], part: GpuPart, parts: Mapping[int, GpuPart]
    ) -> Union[int, str]:
        """Return the CUDA device of a GPU, or why it has none."""
        uuid, pci = part.get("uuid", "").lower(), part.get("pci", "")
        if not uuid:
            return "not identified: NVML reports no UUID for this GPU"
        if sum(other.get("uuid", "").lower() == uuid for other in parts.values()) > 1:
            return "not identified: NVML lists more than one GPU with the UUID %s" % part["uuid"]
        same = [(device, address) for device, found, address in listed if found.lower() == uuid]
        if len(same) > 1:
            return "not identified: CUDA lists %d GPUs with the UUID %s" % (len(same), part["uuid"])
        if not same:
            there = next((found for _, found, address in listed if gpu_address(address) == gpu_address(pci)), "")
            more = "; at %s it lists %s" % (pci, there) if pci and there else self._unread
            return "not listed: CUDA lists no GPU with the UUID %s%s" % (part["uuid"], more)
        device, address = same[0]
        if pci and gpu_address(address) != gpu_address(pci):
            return "not identified: %s is at %s for NVML, and at %s for CUDA" % (part["uuid"], pci, address.lower())
        return device


def gpu_address(text: str) -> Any:
    """Parse a PCI address into domain, bus and device; return the text itself if it is not a PCI address.

    NVML writes the domain with eight digits, and CUDA with four.
    """
    found = re.match(r"([0-9a-fA-F]{4,8}):([0-9a-fA-F]{2}):([0-9a-fA-F]{2})", text)
    return tuple(int(part, 16) for part in found.groups()) if found else text


def gpu_parts(listed: Mapping[str, Mapping[str, Any]], refused: Mapping[str, str]) -> Dict[int, Dict[str, str]]:
    """Return a GpuPart for each GPU that NVML lists, by its index."""
    found = {}
    for index, about in listed.items():
        part = {name: about[name] for name in ("uuid", "pci") if isinstance(about.get(name), str)}
        found[int(index)] = dict(part, refused=refused.get(index, ""))
    return found


def gpu_stay_near(pci: str, root: str = "") -> None:
    """Run the calling thread, and all threads that it starts later, on the processors nearest to a GPU.

    Memory that these threads pin is then on the GPU's NUMA node. Nothing changes if the kernel does not report the
    processors, or if this process may not run on them. `pci` is the GPU's PCI address, `root` is prepended to /sys.
    """
    path = Path("%s/sys/bus/pci/devices/%s/local_cpulist" % (root, pci.lower()))
    with contextlib.suppress(OSError, ValueError):
        near: Set[int] = set()
        for part in path.read_text("ascii").strip().split(","):
            first, _, last = part.partition("-")
            near.update(range(int(first), int(last or first) + 1))
        allowed = near & os.sched_getaffinity(0)
        if allowed:
            os.sched_setaffinity(0, allowed)
