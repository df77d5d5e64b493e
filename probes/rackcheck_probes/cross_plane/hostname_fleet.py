"""Host names that two nodes have: schedulers and name services then mistake one node for the other."""

from collections.abc import Sequence

from rackcheck import Facts, Inputs, Member, Scope, Unknown, gathering, listing
from rackcheck.model.fact import Reading

UNSET = frozenset({"localhost", "localhost.localdomain", "(none)"})
"""Names of machines that were given no host name."""


def name(inputs: Inputs) -> Reading:
    """Return a node's host name."""
    return inputs.reading("node.hostname")


@gathering(
    Scope.FLEET,
    needs=("node.hostname",),
    gives={"fleet.hostname.repeated": listing("Host names that two nodes have, with the nodes' names.")},
    distil=name,
)
def hostname_fleet(members: Sequence[Member]) -> Facts:
    """Find host names that two nodes have."""
    owners: dict[str, list[str]] = {}
    lost: Unknown | None = None
    for member in members:
        own = member.own
        if isinstance(own, Unknown):
            lost = lost or member.named(own)
        elif isinstance(own, str) and own not in UNSET:
            owners.setdefault(own, []).append(member.seat.name)
    repeated = tuple(f"{own}: {', '.join(sorted(nodes))}" for own, nodes in sorted(owners.items()) if len(nodes) > 1)
    yield "fleet.hostname.repeated", repeated if repeated or lost is None else lost
