"""Whether jobs use the devices of which an IOMMU blocked accesses.

Firmware permits some devices that the kernel does not list to access memory, such as a management controller's network
port: a blocked access of such a device harms no job.
"""

from rackcheck import Class, Facts, Inputs, flag, join, spell_key
from rackcheck.model.fact import Unknown

USED = ("0x0302", "0x1200", "0x0680", "0x0200", "0x0207", "0x0108")
"""Beginnings of the PCI classes of GPUs, accelerators, NVSwitches, Ethernet and InfiniBand NICs, and NVMe drives."""


@join(
    needs=("pcie", "pcie/*.class", "log.kernel.iommu"),
    gives={
        "log.kernel.iommu/*.outside_jobs": flag(
            "Whether the device is of a kind that jobs do not use: no GPU, NVSwitch, NIC or NVMe drive.",
            Class.MEASUREMENT,
        )
    },
)
def log_iommu_kind(inputs: Inputs) -> Facts:
    """Find the class of each device; one that the log names without its domain may be in any domain."""
    classes = inputs.table("pcie", "class")
    _, unread = inputs.items("pcie")
    for name in inputs.items("log.kernel.iommu")[0]:
        found = [kind for address, kind in classes.items() if f":{address}".endswith(f":{name}")]
        used = any(isinstance(kind, str) and kind.startswith(USED) for kind in found)
        unknown = next((kind for kind in found if isinstance(kind, Unknown)), unread)
        yield f"log.kernel.iommu/{spell_key(name)}.outside_jobs", False if used else unknown or True
