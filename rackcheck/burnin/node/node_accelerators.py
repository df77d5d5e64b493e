"""Lists the accelerators on the node's PCI bus for which rackcheck has no kernels. The node's /sys is only read.

An accelerator is recognised by its PCI vendor and class, because these are known without a driver. Sources:
include/linux/pci_ids.h of Linux (PCI_CLASS_DISPLAY_VGA, _3D and _OTHER, PCI_CLASS_ACCELERATOR_PROCESSING), the drivers
amdgpu (vendor 0x1002, each display class and 0x1200) and habanalabs (vendor 0x1da3).
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackcheck.burnin.node.node_files import node_text

ACCELERATORS_MOST = 256
"""Maximum number of accelerators that are listed."""

ACCELERATOR_MAKERS = (
    ("0x1002", "AMD", re.compile(r"0x(?:0300|0302|0380|1200)")),
    ("0x1da3", "Intel Gaudi", re.compile(r"0x1200")),
    ("0x8086", "Intel", re.compile(r"0x(?:0302|0380)")),  # 0x0300 is a processor's graphics, 0x1200 a laptop's NPU
)
"""The PCI vendor, the maker's name, and the PCI classes of accelerators, for each maker without kernels."""

PROCESSOR_GRAPHICS = "0000:00:02."
"""The PCI address of an Intel processor's graphics unit, which is no accelerator (docs/igd-assign.txt of QEMU)."""


def node_accelerators(root: "str" = "") -> "Any":
    """Return the accelerators by PCI address, such as {"0000:05:00.0": {"maker": "AMD", "device": "0x74a1"}}.

    None if the PCI bus cannot be read; an empty result if the node has no PCI bus. Virtual functions are left out:
    their physical function is listed. A VGA controller that shows the console is left out.
    """
    bus = Path(root + "/sys/bus/pci/devices")
    try:
        places = sorted(bus.iterdir())
    except FileNotFoundError:
        return {} if Path(root + "/sys/bus").is_dir() else None
    except OSError:
        return None
    found = {}
    for place in places:
        vendor, kind = node_text(place / "vendor"), node_text(place / "class")
        if vendor is None or kind is None:
            return None
        maker = next((name for number, name, kinds in ACCELERATOR_MAKERS if number == vendor and kinds.match(kind)), "")
        if maker and not _is_console(place, vendor, kind) and not os.path.lexists(str(place / "physfn")):
            found[place.name] = {"maker": maker, "device": node_text(place / "device") or ""}
    return dict(sorted(found.items())[:ACCELERATORS_MOST])


def _is_console(place: "Path", vendor: "str", kind: "str") -> "bool":
    """Return whether a display controller is a processor's graphics unit, or shows the console."""
    if vendor == "0x8086":
        return place.name.startswith(PROCESSOR_GRAPHICS)
    return kind.startswith("0x0300") and node_text(place / "boot_vga") == "1"
