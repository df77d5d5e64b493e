"""Which PCI functions stand behind an IOMMU, and whether it translates what they do."""

from rackcheck import Absent, Facts, Files, Read, Reason, Sourced, Unknown, probe, spell_key, text

GROUPS = "/sys/kernel/iommu_groups/{}/{}"
TYPE, MEMBERS = GROUPS.format("*", "type"), GROUPS.format("*", "devices/*/class")
DEVICES = "/sys/bus/pci/devices/*/class"
UNTOLD = Unknown(Reason.NOT_COLLECTED, "this kernel does not tell what the IOMMU does for a group")


@probe(
    Read(TYPE, MEMBERS, DEVICES, seconds=30, cap=8 << 20),
    gives={
        "pcie/*.iommu.group": text("The group of the function; absent if no IOMMU stands before it."),
        "pcie/*.iommu.type": text("What the IOMMU does for it: identity leaves addresses alone, DMA translates."),
    },
)
def pcie_iommu(files: Files) -> Facts:
    """Read the groups and their members; a member's folder is a link to the function's."""
    of = {address: group for group, address in files.found(MEMBERS)}
    for (address,) in files.found(DEVICES):
        item, group = f"pcie/{spell_key(address)}.iommu", of.get(address)
        if group is None:
            yield from ((f"{item}.{leaf}", Absent("in no IOMMU group")) for leaf in ("group", "type"))
            continue
        sourced = files.read(GROUPS.format(group, "type"))
        yield f"{item}.group", group
        yield f"{item}.type", Sourced(UNTOLD, sourced.source) if isinstance(sourced.reading, Absent) else sourced
