"""The training of each PCI Express link: equalization, retimers, lanes with errors."""

from rackcheck import Class, Facts, by_part, flag, integer, listing, probe, spell_key
from rackcheck.parse.host.pcie import lspci, lspci_link
from rackcheck.parse.host.pcie.lspci import EXPRESS
from rackcheck_probes.pcie.control import LSPCI


@probe(
    LSPCI,
    gives={
        "pcie/*.link.active": flag("Whether the link is up, where this end reports it.", Class.MEASUREMENT),
        "pcie/*.link.equalized": flag("Whether the last equalization of the link completed.", Class.MEASUREMENT),
        "pcie/*.link.retimers": integer("Retimers that the link detected between its ends."),
        "pcie/*.link.lane_errors": listing("Lanes on which this end detected an error.", Class.COUNTER),
    },
)
def pcie_training(answer: str) -> Facts:
    """Read the training registers of each function; the facts of a function without a link are absent."""
    for function in lspci.functions(answer):
        yield _training(function)


@by_part
def _training(function: lspci.PciFunction) -> Facts:
    item = f"pcie/{spell_key(function.address)}.link"
    yield f"{item}.active", lspci_link.active(function)
    yield f"{item}.equalized", function.flag(EXPRESS, "LnkSta2", "EqualizationComplete")
    yield f"{item}.retimers", lspci_link.retimers(function)
    yield f"{item}.lane_errors", lspci_link.lane_errors(function)
