"""Memory windows (BARs) as lspci shows them: those that could have another size, those without an address."""

import re

from rackcheck.model.fact import Reading, Reason, Unknown, Unreadable
from rackcheck.parse.host.pcie.lspci import RESIZABLE, SILENT, Capability, Function, resizable, size


def largest(function: Function) -> tuple[Reading, Reading]:
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


def unassigned(function: Function) -> Reading:
    """Name the BARs without an address by their numbers; a function that does not answer shows none."""
    if function.trouble == SILENT:
        return function.trouble
    found = (re.match(r"Region ([0-5]): .{0,40}<(?:unassigned|ignored)>", row) for row in function.lines)
    return tuple(match[1] for match in found if match)
