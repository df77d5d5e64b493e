"""The priority of each DSCP on each network interface; an interface with such a map trusts DSCP."""

from collections.abc import Mapping

from rackcheck import Facts, Shell, listing, probe
from rackcheck.model.fact import Reading
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import dcb
from rackcheck_probes.network.interfaces import HARDWARE


def dscp(message: str) -> Mapping[str, Reading]:
    """Return the priority of each DSCP as texts `DSCP:PRIORITY`."""
    return {"dscp": tuple(f"{value}:{priority}" for value, priority in dcb.dscp(message))}


@probe(
    Shell("dcb -j -N app show dev {}", each=HARDWARE, seconds=30, lane="network"),
    gives={
        "nic.interface/*.dscp": listing(
            "DSCP and its priority: 26:3; empty if the interface does not use DSCP (trust: pcp)."
        )
    },
)
def dcb_app(answer: str) -> Facts:
    """Read each interface's map of DSCPs to priorities.

    Unverified on hardware: written from the source of iproute2's dcb.
    """
    yield from per_device.facts(answer, "nic.interface/*", ("dscp",), dscp)
