"""Lines of the kernel's log about accesses of devices that an IOMMU blocked: VT-d, AMD-Vi and Arm's SMMU.

The patterns follow the kernel's drivers/iommu: intel/dmar.c, amd/iommu.c and arm/arm-smmu-v3/arm-smmu-v3.c. The lines
of VT-d, and those of AMD-Vi in old kernels, contain a device's PCI address without the domain; in the lines of VT-d,
some kernels write 0x before the bus and device numbers. Older SMMU drivers name only the SMMU; newer ones also name the
device, in a second line.
"""

from rackcheck.model.fact import Facts
from rackcheck.model.path import spell_key
from rackcheck.model.text.values import natural
from rackcheck.parse.host.kernel_log.dmesg import LineTally, counted, line, tallies

_PLACE = r"(?P<key>(?:[0-9a-f]{4,8}:)?(?:0x)?[0-9a-f]{2}:(?:0x)?[0-9a-f]{2}\.[0-7])"

IOMMU = (
    line("faults", "Request device [", rf"DMAR: ?\[DMA (?:Read|Write)[^\]]{{0,40}}\] Request device \[{_PLACE}\]"),
    line("interrupts", "Request device [", rf"DMAR: ?(?:\[INTR-REMAP\]|INTR-REMAP:) Request device \[{_PLACE}\]"),
    line("faults", "Event logged [", rf"(?:<driver> <pci>: )?AMD-Vi: Event logged \[[A-Z_]{{1,40}} device={_PLACE}\b"),
    line(
        "faults",
        "Event logged [",
        r"<driver> (?P<key><pci>): AMD-Vi: Event logged \[(?:IO|RMP)_PAGE_FAULT \S",
    ),
    line("faults", " received:", r"arm-smmu(?:-v3)? (?P<key>[\w.@-]{1,60}): event 0x[0-9a-f]{1,4} received:"),
    line("faults", " client: ", r"arm-smmu(?:-v3)? [\w.@-]{1,60}: event: [A-Z_]{1,40} client: (?P<key><pci>) sid: "),
)
"""Patterns of the accesses and interrupts of devices that an IOMMU blocked."""


def faults(collection: str, log: str) -> Facts:
    """Yield the counts of blocked accesses for each device that the log names, by its address without 0x."""
    found: dict[str, LineTally] = {}
    for key, tally in tallies(log, IOMMU).items():
        merged = found.setdefault(key.replace("0x", ""), LineTally())
        for leaf, count in tally.counts.items():
            merged.counts[leaf] = merged.counts.get(leaf, 0) + count
        merged.last = tally.last
    for key in sorted(found, key=natural):
        yield from counted(f"{collection}/{spell_key(key)}", IOMMU, found[key])
