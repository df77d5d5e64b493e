"""Priorities of each network interface that can be paused separately (PFC)."""

from collections.abc import Mapping

from rackcheck import Facts, Shell, integer, listing, probe
from rackcheck.model.fact import Reading
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import dcb
from rackcheck_probes.network.interfaces import HARDWARE


def pfc(message: str) -> Mapping[str, Reading]:
    """Return the priorities that can be paused separately, and the maximum number of such priorities."""
    value = dcb.pfc(message)
    return {"pfc.priorities": tuple(map(str, value.pausing)), "pfc.most": value.most}


@probe(
    Shell("dcb -j pfc show dev {}", each=HARDWARE, seconds=30, lane="network"),
    gives={
        "nic.interface/*.pfc.priorities": listing("Priorities that can be paused separately; none if PFC is off."),
        "nic.interface/*.pfc.most": integer("The maximum number of priorities that can be paused separately."),
    },
)
def dcb_pfc(answer: str) -> Facts:
    """Read each interface's priorities that can be paused separately.

    Unverified on hardware: written from the source of iproute2's dcb.
    """
    yield from per_device.facts(answer, "nic.interface/*", ("pfc.priorities", "pfc.most"), pfc)
