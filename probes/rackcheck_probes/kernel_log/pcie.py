"""PCIe links that the kernel reported as slow, lost or contained."""

from rackcheck import Facts, collection, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_hardware import PCIE
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.kernel.pcie": collection(
            "PCI functions with link problems in the kernel's log, by address; empty without such a line."
        ),
        **dmesg.counts(
            "log.kernel.pcie/*",
            {
                "limited": "Lines about a link above this function that limits its bandwidth.",
                "link_down": "Lines about this port's link going down.",
                "card_gone": "Lines about this port's slot being empty.",
                "contained": "Lines about this port disabling its link to contain an error (DPC).",
                "inaccessible": "Lines about this function no longer answering.",
            },
        ),
    },
)
def log_pcie(answer: str) -> Facts:
    """Count the log lines about each device; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_each("log.kernel.pcie", answer, PCIE)
