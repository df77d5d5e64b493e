"""BARs that firmware gave no address, and those that could have another size."""

import re

from rackcheck import Facts, Unreadable, listing, probe, quantity, spell_key
from rackcheck.core.fact import Reading, Reason, Unknown
from rackcheck.core.read import lspci
from rackcheck.core.read.lspci import RESIZABLE, Function
from rackcheck_probes.pcie_control import LSPCI


def largest(function: Function) -> tuple[Reading, Reading]:
    """Give the size that the largest resizable BAR has, and the size that it could have."""
    found = function.capability(RESIZABLE)
    if not isinstance(found, lspci.Capability):
        return found, found
    try:
        sizes = [(max(map(lspci.size, could)), now) for _, now, could in lspci.resizable(function) if could]
    except Unreadable as error:
        return (Unknown(error.reason, str(error)),) * 2
    if not sizes:
        return (Unknown(Reason.NOT_COLLECTED, "this version of lspci prints no sizes"),) * 2
    most, now = max(sizes)
    return now, most


def unassigned(function: Function) -> Reading:
    """Name the BARs without an address; a function that does not answer shows none."""
    if function.trouble == lspci.SILENT:
        return function.trouble
    found = (re.match(r"Region ([0-5]): .{0,40}<(?:unassigned|ignored)>", row) for row in function.lines)
    return tuple(match[1] for match in found if match)


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
