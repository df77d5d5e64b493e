"""Estimates the highest power that each node can draw under load, from what is known before the load begins. Pure.

The burn-in reads no power limits before it loads a node. So the estimate is the inventory's `power` of the node, else
the number and power limit of GPUs that the profile requires, else the power of one published system.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rackcheck.burnin.ramp import NodeLoad, kilo
from rackcheck.inventory import Node
from rackcheck.model.profile import Profile, Rule

ASSUMED = 14_300
"""Power (W) of a node of which nothing is known: the maximum of a DGX B200 (dgx-b200.guide).

This is the highest maximum of one node that a source of the shipped profiles states; newer nodes may draw more.
"""

SHARE = 2.04
"""Power of a node, divided by the sum of the power limits of its GPUs (rackcheck.derived).

The highest ratio of the published systems with eight GPUs: DGX A100 6.5 kW and 400 W per GPU (dgx-a100.press), 2.03;
DGX H100 10.2 kW and 700 W (dgx-h100.power), 1.82; DGX B200 14.3 kW and 1000 W (dgx-b200.guide), 1.79.
"""

COUNTED = frozenset({"gpu", "gpu.amd", "burnin.gpu"})
LIMITS = frozenset({"power.limit", "power.max"})


@dataclass(frozen=True, slots=True)
class Estimate:
    """The loads of the nodes of a run, and the distinct sources of these nodes' power values."""

    loads: tuple[NodeLoad, ...]
    sources: tuple[str, ...]

    @property
    def words(self) -> str:
        """Describe the power of a node and its source: `14.3 kW per node, assumed`."""
        values = sorted({load.watts for load in self.loads})
        each = kilo(values[0]) if len(values) == 1 else f"{kilo(values[0])} to {kilo(values[-1])}"
        return f"{each} per node, {' and '.join(self.sources)}"


def estimate(nodes: Iterable[Node], profile: Profile | None) -> Estimate:
    """Return the loads of all nodes that have a host, in the order of the nodes."""
    nominal = of_profile(profile.rules) if profile is not None else None
    loads: list[NodeLoad] = []
    sources: dict[str, None] = {}
    for node in nodes:
        if not node.host:
            continue
        if node.power:
            watts, source = node.power, "by the inventory"
        elif nominal is not None and profile is not None:
            watts, source = nominal, f"estimated from the GPUs of {profile.name}"
        else:
            watts, source = ASSUMED, "assumed"
        loads.append(NodeLoad(node.name, watts, node.rack, node.pdu))
        sources[source] = None
    return Estimate(tuple(loads), tuple(sources))


def of_profile(rules: Sequence[Rule]) -> int | None:
    """Return the power (W) of a node if rules set the number and the power limit of its GPUs; otherwise None."""
    counts, limits = [0.0], [0.0]
    for rule in rules:
        look = rule.look
        if look is None:
            continue
        for clause in rule.clauses:
            exact = [test.operand for test in clause.tests if test.op == "is"]
            numbers = [float(each) for each in exact if isinstance(each, int | float) and not isinstance(each, bool)]
            if look.mode == "count" and str(look.collection) in COUNTED:
                counts += numbers
            elif str(clause.fact) in LIMITS:
                limits += numbers
    return round(max(counts) * max(limits) * SHARE) or None
