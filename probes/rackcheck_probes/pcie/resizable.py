"""BARs that firmware gave no address, and those that could have another size."""

import re

from rackcheck import Facts, listing, probe, quantity, spell_key
from rackcheck.model.fact import Reading, Reason, Unknown, Unreadable
from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci import RESIZABLE, SILENT, Capability, PciFunction, resizable, size
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


# Memory windows (BARs) as lspci shows them: those that could have another size, those without an address.


def largest(function: PciFunction) -> tuple[Reading, Reading]:
    """Give in GiB the size that the largest resizable BAR has, and the size that it could have."""
    found = function.capability(RESIZABLE)
    if not isinstance(found, Capability):
        return found, found
    try:
        sizes = [(max(map(size, could)), now) for _, now, could in resizable(function) if could]
    except Unreadable as error:
        return (Unknown(error.reason, str(error)),) * 2
    if not sizes:
        return (Unknown(Reason.NOT_COLLECTED, "this version of lspci prints no sizes"),) * 2
    most, now = max(sizes)
    return now, most


def unassigned(function: PciFunction) -> Reading:
    """Name the BARs without an address by their numbers; a function that does not answer shows none."""
    if function.trouble == SILENT:
        return function.trouble
    found = (re.match(r"Region ([0-5]): .{0,40}<(?:unassigned|ignored)>", row) for row in function.lines)
    return tuple(match[1] for match in found if match)
