"""PCI functions behind an IOMMU, and whether the IOMMU translates their memory accesses."""

from rackcheck import Absent, Facts, Files, Read, Reason, Sourced, Unknown, probe, spell_key, text

GROUPS = "/sys/kernel/iommu_groups/{}/{}"
TYPE, MEMBERS = GROUPS.format("*", "type"), GROUPS.format("*", "devices/*/class")
DEVICES = "/sys/bus/pci/devices/*/class"
UNTOLD = Unknown(Reason.NOT_COLLECTED, "this kernel does not report how the IOMMU handles a group")


@probe(
    Read(TYPE, MEMBERS, DEVICES, seconds=30, cap=8 << 20),
    gives={
        "pcie/*.iommu.group": text("The group of the function; absent without an IOMMU."),
        "pcie/*.iommu.type": text(
            "How the IOMMU handles the function's accesses: identity keeps addresses, DMA translates them."
        ),
    },
)
def pcie_iommu(files: Files) -> Facts:
    """Read the IOMMU groups; each group's folder contains a link to the folder of each PCI function in the group."""
    of = {address: group for group, address in files.found(MEMBERS)}
    for (address,) in files.found(DEVICES):
        item, group = f"pcie/{spell_key(address)}.iommu", of.get(address)
        if group is None:
            yield from ((f"{item}.{leaf}", Absent("in no IOMMU group")) for leaf in ("group", "type"))
            continue
        sourced = files.read(GROUPS.format(group, "type"))
        yield f"{item}.group", group
        yield f"{item}.type", Sourced(UNTOLD, sourced.source) if isinstance(sourced.reading, Absent) else sourced
