"""BARs that firmware gave no address, and those that could have another size."""

from rackcheck import Facts, listing, probe, quantity, spell_key
from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci_bars import largest, unassigned
from rackcheck_probes.pcie.control import LSPCI


@probe(
    LSPCI,
    gives={
        "pcie/*.bar.resizable": quantity(
            "GiB", "The size now of the BAR that could be largest; absent if none resizes."
        ),
        "pcie/*.bar.resizable_max": quantity("GiB", "The size that this BAR could have."),
        "pcie/*.bar.unassigned": listing("Numbers of the BARs that have no address."),
    },
)
def pcie_resizable(answer: str) -> Facts:
    """Read the resizable BARs of each function."""
    for function in lspci.functions(answer):
        item = f"pcie/{spell_key(function.address)}.bar"
        yield from zip((f"{item}.resizable", f"{item}.resizable_max"), largest(function), strict=True)
        yield f"{item}.unassigned", unassigned(function)
