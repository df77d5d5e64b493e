"""Describes a GPU on the node: its name, PCI address, memory, limits, links and modes. All numbers are in SI units."""

import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackcheck.burnin.node.nvml_gpus import Gpus

HOT_BELOW = 2
"""The load must end when a GPU or its memory is only this many degrees C below its limit (nvml_rows.py)."""
LINKS_MOST = 36
"""Maximum number of a GPU's NVLinks that are queried."""
COMPUTE_MODES = ("default", "exclusive thread", "prohibited", "exclusive process")
PCI_PLACE = re.compile(r"([0-9a-fA-F]{4,8}):([0-9a-fA-F]{2}):([0-9a-fA-F]{2})")


def pci_place(text: "str") -> "Any":
    """Parse a PCI address into domain, bus and device; None if the text is not a PCI address."""
    found = PCI_PLACE.match(text)
    return tuple(int(part, 16) for part in found.groups()) if found else None


def nvml_about(gpus: "Gpus", index: "int") -> "Any":
    """Return a GPU's description; its PCI address and its slowdown temperature are also stored in `gpus`."""
    nvml = gpus.nvml

    def ask(question: "Any", *given: "Any") -> "Any":
        return gpus.ask(index, question, *given)

    def scaled(value: "Any", factor: "float") -> "Any":
        return None if value is None else round(value * factor, 3)

    def flag(value: "Any") -> "Any":
        return None if value is None else bool(value)

    memory, pci = ask(nvml.nvmlDeviceGetMemoryInfo), ask(nvml.nvmlDeviceGetPciInfo)
    limits, capability = ask(nvml.nvmlDeviceGetPowerManagementLimitConstraints), _nvml_capability(gpus, index)
    mig, ecc, mode = ask(nvml.nvmlDeviceGetMigMode), ask(nvml.nvmlDeviceGetEccMode), _nvml_mode(gpus, index)
    place = pci_place(pci.busId.decode() if isinstance(pci.busId, bytes) else pci.busId) if pci else None
    if place:
        gpus.places[index] = place
    slowdown = ask(nvml.nvmlDeviceGetTemperatureThreshold, nvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN)
    if slowdown:
        gpus.slowdown[index] = slowdown
    hottest = ask(nvml.nvmlDeviceGetTemperatureThreshold, nvml.NVML_TEMPERATURE_THRESHOLD_MEM_MAX)
    if hottest:
        gpus.memory_slowdown[index] = hottest
    margin = (nvml.NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT, 0)
    # Newer GPUs report the limit of the memory as a margin of the chip, like that of the slowdown.
    memory_margin = (nvml.NVML_FI_DEV_TEMPERATURE_MEM_MAX_TLIMIT, 0)
    sensor = (nvml.NVML_FI_DEV_MEMORY_TEMP, 0)
    fields = gpus.fields(index, [margin, memory_margin, sensor])
    if margin in fields:
        gpus.slowdown_margin[index] = fields[margin]
    # It is used only where the memory's own temperature has no limit, and only if the margin itself can be read.
    own = bool(hottest) and sensor in fields
    if memory_margin in fields and not own and ask(nvml.nvmlDeviceGetMarginTemperature) is not None:
        gpus.memory_margin[index] = fields[memory_margin]
    links, rate = _nvml_links(gpus, index)
    values = {
        "uuid": ask(nvml.nvmlDeviceGetUUID),
        "serial": ask(nvml.nvmlDeviceGetSerial),
        "module": ask(nvml.nvmlDeviceGetModuleId),
        "pci": "{:04x}:{:02x}:{:02x}.0".format(*place) if place else None,
        "uplink": _nvml_uplink(gpus.root, place) if place else None,
        "model": ask(nvml.nvmlDeviceGetName),
        "memory": memory.total if memory else None,
        "memory_used": memory.used if memory else None,
        "cc": capability,
        "limit": scaled(ask(nvml.nvmlDeviceGetEnforcedPowerLimit), 1e-3),
        "limit_default": scaled(ask(nvml.nvmlDeviceGetPowerManagementDefaultLimit), 1e-3),
        "limit_max": scaled(limits[1], 1e-3) if limits else None,
        "clock_max": scaled(ask(nvml.nvmlDeviceGetMaxClockInfo, nvml.NVML_CLOCK_SM), 1e6),
        "memory_clock_max": scaled(ask(nvml.nvmlDeviceGetMaxClockInfo, nvml.NVML_CLOCK_MEM), 1e6),
        "memory_width": ask(nvml.nvmlDeviceGetMemoryBusWidth),
        "link_gen_max": ask(nvml.nvmlDeviceGetMaxPcieLinkGeneration),
        "link_width_max": ask(nvml.nvmlDeviceGetMaxPcieLinkWidth),
        "nvlinks": links,
        "nvlink_rate": rate,
        "driver": _nvml_version(gpus.nvml),
        "mig": flag(mig[0]) if mig else None,
        "mode": mode,
        "persistence": flag(ask(nvml.nvmlDeviceGetPersistenceMode)),
        "slowdown": slowdown or None,
        "memory_limit": own or index in gpus.memory_margin,
        "ecc": flag(ecc[0]) if ecc else None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _nvml_uplink(root: "str", place: "Any") -> "Any":
    """Return the PCI address of the root port above a GPU, whose link all devices below it share; None if unknown."""
    path = os.path.realpath("{}/sys/bus/pci/devices/{:04x}:{:02x}:{:02x}.0".format(root, *place))
    found = re.search(r"/pci[0-9a-f]{4,8}:[0-9a-f]{2}/([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])/", path)
    return found.group(1) if found else None


def _nvml_version(nvml: "Any") -> "Any":
    try:
        value = nvml.nvmlSystemGetDriverVersion()
    except nvml.NVMLError:
        return None
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _nvml_capability(gpus: "Gpus", index: "int") -> "Any":
    value = gpus.ask(index, gpus.nvml.nvmlDeviceGetCudaComputeCapability)
    return ".".join(map(str, value)) if value else None


def _nvml_mode(gpus: "Gpus", index: "int") -> "Any":
    number = gpus.ask(index, gpus.nvml.nvmlDeviceGetComputeMode)
    return COMPUTE_MODES[number] if number is not None and number < len(COMPUTE_MODES) else None


def _nvml_links(gpus: "Gpus", index: "int") -> "Any":
    """Return the number of NVLinks that are up, and their total rate per direction (B/s); None for an unknown value."""
    nvml = gpus.nvml
    count = gpus.fields(index, [(nvml.NVML_FI_DEV_NVLINK_LINK_COUNT, 0)])
    most = min(next(iter(count.values()), LINKS_MOST), LINKS_MOST)
    states = []
    for link in range(most):
        state = gpus.ask(index, nvml.nvmlDeviceGetNvLinkState, link)
        if state is None:
            break
        states.append(state)
    if not states:
        none = (count and not most) or gpus.unsupported(index, nvml.nvmlDeviceGetNvLinkState, 0)
        return (0, None) if none else (None, None)
    up = [link for link, state in enumerate(states) if state == 1]
    speeds = gpus.fields(index, [(nvml.NVML_FI_DEV_NVLINK_GET_SPEED, link) for link in up])
    return len(up), sum(speeds.values()) * 1e6 if up and len(speeds) == len(up) else None
