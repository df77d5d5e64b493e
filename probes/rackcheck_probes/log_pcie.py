"""PCIe links that the kernel found slow, lost or contained."""

from rackcheck import Facts, collection, probe
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck_probes.kernel_log import DMESG

KINDS = (
    line(
        "limited",
        "available PCIe bandwidth, limited by ",
        r"<driver> (?P<key><pci>): [0-9]{1,9}(?:\.[0-9]{1,6})? Gb/s available PCIe bandwidth, limited by ",
        "Lines that say that a link above gives this function less bandwidth than it could use.",
    ),
    line(
        "link_down",
        "Link Down",
        r"pcie(?:port|hp) (?P<key><pci>)(?::pcie[0-9a-f]{3})?: (?:pciehp: )?Slot\([^)]{1,20}\): Link Down(?!/)",
        "Lines that say that this port's link went down.",
    ),
    line(
        "card_gone",
        "Card not present",
        r"pcie(?:port|hp) (?P<key><pci>)(?::pcie[0-9a-f]{3})?: (?:pciehp: )?Slot\([^)]{1,20}\): Card not present",
        "Lines that say that this port's slot is empty.",
    ),
    line(
        "contained",
        " containment event",
        r"(?:pcieport|dpc) (?P<key><pci>)(?::pcie[0-9a-f]{3})?: DPC:? containment event",
        "Lines that say that this port cut its link to contain an error (DPC).",
    ),
    line(
        "inaccessible",
        "device inaccessible",
        r"<driver> (?P<key><pci>): .{0,80}device inaccessible",
        "Lines that say that this function does not answer any more.",
    ),
    line(
        "inaccessible",
        "config space inaccessible",
        r"<driver> (?P<key><pci>): can't change power state .{0,60}\(config space inaccessible\)",
    ),
)


@probe(
    DMESG,
    gives={
        "log.kernel.pcie": collection(
            "PCI functions whose link the kernel's log complains of, by address; empty without such a line."
        ),
        **dmesg.promised("log.kernel.pcie/*", KINDS),
    },
)
def log_pcie(answer: str) -> Facts:
    """Count the lines of each device; the ring's older lines are gone."""
    yield from dmesg.of_each("log.kernel.pcie", answer, KINDS)
