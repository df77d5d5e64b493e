"""Power management (ASPM) of PCI Express links: the sleep states that are enabled and supported."""

from rackcheck import Facts, by_part, listing, probe, spell_key, text
from rackcheck.parse.host.pcie import lspci, lspci_link
from rackcheck.parse.host.pcie.lspci_link import ASPM
from rackcheck_probes.pcie.control import LSPCI


@probe(
    LSPCI,
    gives={
        "pcie/*.aspm.enabled": text("The link's sleep states that are enabled at this end.", words=ASPM),
        "pcie/*.aspm.supported": text("The link's sleep states that this end supports.", words=ASPM),
        "pcie/*.aspm.substates": listing("The deeper states of L1 that are enabled: ASPM_L1.1, PCI-PM_L1.2."),
    },
)
def pcie_aspm(answer: str) -> Facts:
    """Read the link control register of each function; the facts of a function without a link are absent."""
    for function in lspci.functions(answer):
        yield _aspm(function)


@by_part
def _aspm(function: lspci.PciFunction) -> Facts:
    item = f"pcie/{spell_key(function.address)}.aspm"
    yield f"{item}.enabled", lspci_link.sleeps(function)
    yield f"{item}.supported", lspci_link.could_sleep(function)
    yield f"{item}.substates", lspci_link.substates(function)
