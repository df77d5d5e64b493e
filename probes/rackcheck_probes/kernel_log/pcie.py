"""PCIe links that the kernel found slow, lost or contained."""

from rackcheck import Facts, collection, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_hardware import PCIE
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.kernel.pcie": collection(
            "PCI functions whose link the kernel's log complains of, by address; empty without such a line."
        ),
        **dmesg.counts(
            "log.kernel.pcie/*",
            {
                "limited": "Lines that say that a link above gives this function less bandwidth than it could use.",
                "link_down": "Lines that say that this port's link went down.",
                "card_gone": "Lines that say that this port's slot is empty.",
                "contained": "Lines that say that this port cut its link to contain an error (DPC).",
                "inaccessible": "Lines that say that this function does not answer any more.",
            },
        ),
    },
)
def log_pcie(answer: str) -> Facts:
    """Count the lines of each device; the ring's older lines are gone."""
    yield from dmesg.of_each("log.kernel.pcie", answer, PCIE)
