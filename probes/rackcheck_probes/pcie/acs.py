"""Whether PCI functions send their neighbours' traffic up to the root complex: Access Control Services."""

from rackcheck import Facts, flag, listing, probe, spell_key
from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci import ACS
from rackcheck_probes.pcie.control import LSPCI

REDIRECT = {"SrcValid", "ReqRedir", "CmpltRedir", "UpstreamFwd"}
"""What checks or turns away traffic between two devices below one switch."""


@probe(
    LSPCI,
    gives={
        "pcie/*.acs.supported": listing(
            "What the function could control: SrcValid, ReqRedir, CmpltRedir, UpstreamFwd."
        ),
        "pcie/*.acs.enabled": listing("What of this is switched on."),
        "pcie/*.acs.redirect": flag(
            "Whether traffic between devices is checked or sent up: a GPU and a NIC then meet in the root complex."
        ),
    },
)
def pcie_acs(answer: str) -> Facts:
    """Read the access control of each function; absent where it has none."""
    for function in lspci.functions(answer):
        item = f"pcie/{spell_key(function.address)}"
        yield f"{item}.acs.supported", function.raised(ACS, "ACSCap")
        enabled = function.raised(ACS, "ACSCtl")
        yield f"{item}.acs.enabled", enabled
        yield f"{item}.acs.redirect", not REDIRECT.isdisjoint(enabled) if isinstance(enabled, tuple) else enabled
