"""Memory windows (BARs) of PCI functions: BARs without an address, and resizable BARs."""

import re

from rackcheck import Facts, by_part, listing, probe, quantity, spell_key
from rackcheck.model.fact import Reading, Reason, Unknown, Unreadable
from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci import RESIZABLE, SILENT, Capability, PciFunction, resizable, size
from rackcheck_probes.pcie.control import LSPCI


@probe(
    LSPCI,
    gives={
        "pcie/*.bar.resizable": quantity(
            "GiB", "The current size of the resizable BAR with the largest maximum size; absent without resizable BARs."
        ),
        "pcie/*.bar.resizable_max": quantity(
            "GiB", "The maximum size of the resizable BAR with the largest maximum size."
        ),
        "pcie/*.bar.unassigned": listing("Numbers of the BARs that have no address."),
    },
)
def pcie_resizable(answer: str) -> Facts:
    """Read the resizable BARs of each function."""
    for function in lspci.functions(answer):
        yield _resizable(function)


@by_part
def _resizable(function: PciFunction) -> Facts:
    item = f"pcie/{spell_key(function.address)}.bar"
    yield from zip((f"{item}.resizable", f"{item}.resizable_max"), largest(function), strict=True)
    yield f"{item}.unassigned", unassigned(function)


# Memory windows (BARs) as lspci shows them: resizable windows, and windows without an address.


def largest(function: PciFunction) -> tuple[Reading, Reading]:
    """Return the current and maximum size, in GiB, of the function's resizable BAR with the largest maximum size."""
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
    """Return the numbers of the BARs without an address; unknown for a function that does not respond."""
    if function.trouble == SILENT:
        return function.trouble
    found = (re.match(r"Region ([0-5]): .{0,40}<(?:unassigned|ignored)>", row) for row in function.lines)
    return tuple(match[1] for match in found if match)
