"""Access Control Services (ACS): whether PCI functions redirect traffic between devices to the root complex."""

from rackcheck import Facts, by_part, flag, listing, probe, spell_key
from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci import ACS
from rackcheck_probes.pcie.control import LSPCI

REDIRECT = {"ReqRedir", "CmpltRedir", "UpstreamFwd"}
"""ACS controls that redirect traffic between two devices below one switch; the control SrcValid only checks traffic."""


@probe(
    LSPCI,
    gives={
        "pcie/*.acs.supported": listing(
            "The controls that the function supports: SrcValid, ReqRedir, CmpltRedir, UpstreamFwd."
        ),
        "pcie/*.acs.enabled": listing("The supported controls that are enabled."),
        "pcie/*.acs.redirect": flag(
            "Whether traffic between devices, such as GPU to NIC, is redirected through the root complex."
        ),
    },
)
def pcie_acs(answer: str) -> Facts:
    """Read the ACS registers of each function; the facts of a function without ACS are absent."""
    for function in lspci.functions(answer):
        yield _acs(function)


@by_part
def _acs(function: lspci.PciFunction) -> Facts:
    item = f"pcie/{spell_key(function.address)}"
    yield f"{item}.acs.supported", function.raised(ACS, "ACSCap")
    enabled = function.raised(ACS, "ACSCtl")
    yield f"{item}.acs.enabled", enabled
    yield f"{item}.acs.redirect", not REDIRECT.isdisjoint(enabled) if isinstance(enabled, tuple) else enabled
