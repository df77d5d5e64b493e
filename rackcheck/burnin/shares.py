"""Divides the power limits of a burn-in among shards, which start nodes without knowledge of each other. Pure.

The shards may all start a node in the same moment. So the limits of all shards together are the limits of the burn-in,
and each shard can start its largest node within its own part.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import floor

from rackcheck.burnin.ramp import STEP_NODES, NodeLoad, PowerLimits, kilo
from rackcheck.parse.burnin.plan import apart

Loads = Sequence[NodeLoad]


def shares(shards: Sequence[Loads], limits: PowerLimits) -> list[PowerLimits]:
    """Return the limits of each shard; raises ValueError if there are too many shards for the limits."""
    count = len(shards)
    if count > STEP_NODES:
        raise ValueError(f"a burn-in has at most {STEP_NODES} shards, as many nodes as may start in a second")
    rates = _split(limits.rate, "the power that may be added per second", shards, even=True)
    totals = _split(limits.total, "the power budget", shards) if limits.total is not None else [None] * count
    racks = _budgets(limits.racks.items(), "rack", shards, lambda load: load.rack)
    pdus = _budgets(limits.pdus.items(), "PDU", shards, lambda load: load.pdu)
    gap = 1 / floor(STEP_NODES / count)
    least = max(gap, count * apart(sum(map(len, shards))))
    return [
        replace(limits, rate=rates[n] or limits.rate, total=totals[n], racks=racks[n], pdus=pdus[n], apart=least)
        for n in range(count)
    ]


def _budgets(
    budgets: Iterable[tuple[str, int]], kind: str, shards: Sequence[Loads], of: Callable[[NodeLoad], str]
) -> list[dict[str, int]]:
    """Return the part of each budget for each shard; a shard without nodes there has none."""
    found: list[dict[str, int]] = [{} for _ in shards]
    for name, most in budgets:
        mine = [[load for load in loads if of(load) == name] for loads in shards]
        for own, part in zip(found, _split(most, f"the power budget of {kind} {name}", mine), strict=True):
            if part is not None:
                own[name] = part
    return found


def _split(most: int, what: str, shards: Sequence[Loads], *, even: bool = False) -> list[int | None]:
    """Divide watts: each shard with nodes gets the watts of its largest node, and a part of the rest by its watts.

    With `even`, each gets the same part of the rest. Raises ValueError if the largest nodes need more.
    """
    largest = [max((load.watts for load in loads), default=0) for loads in shards]
    rest = most - sum(largest)
    if rest < 0:
        raise ValueError(
            f"{len([each for each in largest if each])} shards may each start a node in the same second: "
            f"{kilo(sum(largest))}, more than {what} of {kilo(most)}; plan fewer shards (--by COUNT)"
        )
    weights = [(1 if even else sum(load.watts for load in loads)) if loads else 0 for loads in shards]
    return [
        own + rest * weight // sum(weights) if weight else None for own, weight in zip(largest, weights, strict=True)
    ]
