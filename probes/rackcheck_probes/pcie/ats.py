"""Address translation by PCI functions: ATS, page requests (PRI) and address spaces of processes (PASID)."""

from rackcheck import Facts, by_part, flag, probe, spell_key
from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci import ATS, PASID, PRI
from rackcheck_probes.pcie.control import LSPCI

REGISTERS = {"ats": (ATS, "ATSCtl"), "pri": (PRI, "PRICtl"), "pasid": (PASID, "PASIDCtl")}


@probe(
    LSPCI,
    gives={
        "pcie/*.ats.enabled": flag("Whether the function caches translations of the IOMMU; absent if unsupported."),
        "pcie/*.pri.enabled": flag("Whether the function may request missing pages; absent if unsupported."),
        "pcie/*.pasid.enabled": flag(
            "Whether the function can use address spaces of processes (PASID); absent if unsupported."
        ),
    },
)
def pcie_ats(answer: str) -> Facts:
    """Read the address translation controls of each PCI function."""
    for function in lspci.functions(answer):
        yield _ats(function)


@by_part
def _ats(function: lspci.PciFunction) -> Facts:
    item = f"pcie/{spell_key(function.address)}"
    for leaf, (capability, register) in REGISTERS.items():
        yield f"{item}.{leaf}.enabled", function.flag(capability, register, "Enable")
