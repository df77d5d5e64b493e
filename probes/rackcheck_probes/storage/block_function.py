"""The PCI function of each block device that is a namespace of an NVMe drive."""

from rackcheck import Absent, Class, Facts, Inputs, join, spell_key, text
from rackcheck.model.fact import Reading, Unknown


@join(
    needs=("nvme", "nvme/*.pci", "nvme/*.namespace", "storage.device"),
    gives={
        "storage.device/*.pci": text(
            "The PCI address of the NVMe drive whose namespace the device is, a key of pcie; absent on other devices.",
            Class.IDENTITY,
        ),
    },
)
def block_function(inputs: Inputs) -> Facts:
    """Find the NVMe drive of each block device by the drive's namespaces."""
    drives, hidden = inputs.items("nvme")
    found: dict[str, Reading] = {}
    for drive in drives:
        item = f"nvme/{spell_key(drive)}"
        namespaces, cut = inputs.items(f"{item}.namespace")
        hidden = hidden or cut
        found |= {name: inputs.reading(f"{item}.pci") for name in namespaces}
    other: Absent | Unknown = hidden or Absent("no namespace of an NVMe drive")
    for device in inputs.items("storage.device")[0]:
        yield f"storage.device/{spell_key(device)}.pci", found.get(device, other)
