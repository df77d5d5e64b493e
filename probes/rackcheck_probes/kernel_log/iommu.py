"""Accesses and interrupts of devices that an IOMMU blocked."""

from rackcheck import Facts, collection, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_iommu import faults
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.kernel.iommu": collection(
            "Devices with blocked accesses in the kernel's log, as the log names them: PCI functions, with or without "
            "their domain, or the SMMU; empty without such a line."
        ),
        **dmesg.counts(
            "log.kernel.iommu/*",
            {
                "faults": "Lines about reads and writes of this device that the IOMMU blocked.",
                "interrupts": "Lines about interrupts of this device that the IOMMU blocked.",
            },
        ),
    },
)
def log_iommu(answer: str) -> Facts:
    """Count the log lines about each device; the kernel limits how many of them it logs."""
    yield from faults("log.kernel.iommu", answer)
