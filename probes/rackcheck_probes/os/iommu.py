"""Whether the IOMMU translates memory accesses of devices."""

from collections import Counter

from rackcheck import Facts, Files, Read, Reason, Unreadable, integer, listing, probe, read

UNITS, TYPES = "/sys/class/iommu/*/uevent", "/sys/kernel/iommu_groups/*/type"
MEMBERS = "/sys/kernel/iommu_groups/*/devices/*/class"
"""Glob of the PCI functions in each IOMMU group, which also finds groups whose type an old kernel does not report."""
TRANSLATED = ("DMA", "DMA-FQ")


@probe(
    Read(UNITS, TYPES, MEMBERS, cap=4 << 20),
    gives={
        "iommu.units": listing("IOMMUs that the kernel uses: dmar0 (Intel), ivhd0 (AMD), smmu3.0x..."),
        "iommu.groups": integer("Groups of devices that the IOMMU isolates: 0 if the kernel uses no IOMMU."),
        "iommu.types": listing("How accesses are handled: identity (passed through), DMA, DMA-FQ (translated)."),
        "iommu.passthrough": integer("Groups whose accesses pass through untranslated."),
        "iommu.translated": integer("Groups whose accesses are translated."),
    },
)
def iommu(files: Files) -> Facts:
    """Count the groups by type; a group that a virtual machine uses counts as neither passed through nor translated."""
    units = tuple(name for (name,) in files.found(UNITS))
    yield "iommu.units", units
    typed = [number for (number,) in files.found(TYPES)]
    if (units and not typed) or not set(typed).issuperset(number for number, _ in files.found(MEMBERS)):
        raise Unreadable("the kernel does not report the types of IOMMU groups", Reason.NOT_COLLECTED)
    types = Counter(read.line(files.text(TYPES.replace("*", number))) for number in typed)
    yield "iommu.groups", sum(types.values())
    yield "iommu.types", tuple(sorted(types))
    yield "iommu.passthrough", types["identity"]
    yield "iommu.translated", sum(types[word] for word in TRANSLATED)
