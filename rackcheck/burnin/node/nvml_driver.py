"""Decides on the node whether NVML may be called: only if the call loads no driver and creates no device file."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackcheck.burnin.node.node_files import node_text


def nvml_on_bus(root: "str") -> "Any":
    """Return the number of NVIDIA display and 3D controllers; None if the PCI bus cannot be read."""
    try:
        devices = sorted(Path(root + "/sys/bus/pci/devices").iterdir())
    except OSError:
        return None
    return sum(
        node_text(each / "vendor") == "0x10de" and (node_text(each / "class") or "").startswith("0x03")
        for each in devices
    )


def nvml_unasked(nvml: "Any", root: "str") -> "str":
    """Return why NVML must not or cannot be called; empty if it may be called."""
    if nvml is None:
        return "tool missing: NVML is not in the payload"
    if not os.access(root + "/proc/driver/nvidia/version", os.F_OK):
        if any(os.access(root + place, os.F_OK) for place in ("/dev/dxg", "/dev/nvhost-gpu")):
            return ""
        return "no driver: NVIDIA's driver is not loaded, and a query could load it"
    if not os.access(root + "/dev/nvidiactl", os.F_OK):
        return "no driver: NVIDIA's driver is loaded without /dev/nvidiactl, and a query could create it"
    return ""


def nvml_why(nvml: "Any", error: "Any") -> "str":
    """Return the reason for an NVML error; it begins with a word that the controller parses, such as `denied`."""
    words = {
        nvml.NVML_ERROR_LIBRARY_NOT_FOUND: "tool missing",
        nvml.NVML_ERROR_NO_PERMISSION: "denied",
        nvml.NVML_ERROR_GPU_IS_LOST: "lost",
        nvml.NVML_ERROR_TIMEOUT: "hang",
    }
    return f"{words.get(error.value, 'no driver')}: NVML: {error}"
