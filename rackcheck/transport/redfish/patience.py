"""How long a BMC may take for one resource: some kinds are made anew from many parts each time they are asked for."""

from collections.abc import Mapping

SLOW: Mapping[str, int] = {"firmwareinventory": 6, "entries": 6}
"""By the last word of a collection's URI, how many times longer than others it may take.

Reported are 2 to 3 minutes for the firmware inventory of a DGX H100 (github.com/dsx-ai-factory/infra-controller issues
1584 and 6419), 60 s for a log of 10,000 entries (github.com/DMTF/Redfish-Service-Validator issue 653): six times the
30 s that others get.
"""


def patience(uri: str) -> int:
    """Give how many times longer than others the resource at a URI may take."""
    return SLOW.get(uri.partition("?")[0].rstrip("/").rpartition("/")[2].casefold(), 1)


def bounded(seconds: float, times: float, left: float) -> float:
    """Give how long to wait: so many times longer, but for half of what is left, that one cannot cost the others."""
    return min(max(seconds, min(seconds * times, left / 2)), left)
