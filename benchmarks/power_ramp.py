"""How fast the power of a burn-in rises on 1,024 nodes, and how much it swings, by the schedule's own clock.

    python benchmarks/power_ramp.py [NODES]

No node is contacted: the clock is virtual. Nodes draw 14.3 kW (DGX B200 User Guide), stand four in a rack, connect
within 0.3 to 3 seconds (uniform, seeded), and one in a hundred never connects. In each stage a node draws the share of
its power that the simulator assumes for its GPUs (`rackcheck/sim/load_heat.py`); an idle node draws nothing. So the
swing is an assumption, and the ramp and the maximum are not: they count a node's full power from its start to its end.
"""

import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from ramp_clock import Loaded, clocked

from rackcheck.burnin.ramp import NodeLoad, PowerLimits, Ramp
from rackcheck.burnin.watts import ASSUMED
from rackcheck.parse.burnin.plan import StageSlot, Tier, slots
from rackcheck.sim.load_heat import DEMAND

RACK, SEED, TICK = 4, 24, 100
LATE = 1.0
"""Seconds between the end of the last stage and the end of a node's burn-in."""


def scheduled(count: int, tier: Tier, limits: PowerLimits) -> list[Loaded]:
    """Return the loads of a burn-in on so many nodes."""
    rng = random.Random(SEED)  # noqa: S311  a benchmark, not a secret
    loads = [NodeLoad(f"n{n:04}", ASSUMED, f"r{n // RACK:03}", f"r{n // RACK:03}{'ab'[n % 2]}") for n in range(count)]
    connect = {load.name: None if rng.random() < 0.01 else rng.randrange(300, 3000) for load in loads}
    length = {load.name: round(1000 * (tier.seconds + LATE)) for load in loads}
    return clocked(Ramp.of(loads, limits), connect, length)


def series(found: Sequence[Loaded], stages: Sequence[StageSlot] = ()) -> list[float]:
    """Return the power (W) at each TICK; with stages, by the share of each stage, else full from start to end."""
    changes = [0.0] * (max(one.end for one in found) // TICK + 2)
    for one in found:
        spans = [(1000 * slot.begin, 1000 * slot.until, min(1.0, DEMAND[slot.stage])) for slot in stages]
        for begin, end, share in spans or [(0, one.end - one.begin, 1.0)]:
            changes[int(one.begin + begin) // TICK] += share * one.load.watts
            changes[int(one.begin + end) // TICK] -= share * one.load.watts
    total, rows = 0.0, []
    for change in changes:
        total += change
        rows.append(total)
    return rows


def steepest(watts: Sequence[float]) -> float:
    """Return the greatest change of power within a second (W)."""
    width = 1000 // TICK
    return max(abs(b - a) for a, b in zip([0.0] * width + list(watts), watts, strict=False))


def row(name: str, count: int, tier: Tier, limits: PowerLimits) -> str:
    """Measure one burn-in, and format it as a row of the table."""
    found = scheduled(count, tier, limits)
    power, stages = series(found), [slot for slot in slots(tier) if slot.of == "gpu"]
    rising = max(sum(o.load.watts for o in found if t - 1000 < o.begin <= t) for t in {one.begin for one in found})
    most, budget = max(power), limits.total
    assert budget is None or most <= budget, "above the budget"
    swing, last = steepest(series(found, stages)), max(one.begin for one in found) / 1000
    bound = f"{budget / 1e6:.1f} MW" if budget is not None else "none"
    cells = (name, tier.value, bound, f"{rising / 1e6:.3f} MW/s", f"{most / 1e6:.2f} MW", f"{swing / 1e6:.2f} MW/s")
    return f"| {' | '.join(cells)} | {last:,.0f} s |"


def main() -> None:
    """Print the table."""
    count, begun = int(sys.argv[1]) if len(sys.argv) > 1 else 1024, time.monotonic()
    print(f"{count} nodes of {ASSUMED / 1000} kW, {count * ASSUMED / 1e6:.1f} MW in all\n")
    print("| limits | tier | budget | ramp | most | swing | last start |\n| --- | --- | --- | --- | --- | --- | --- |")
    megawatt = PowerLimits(total=10**6)
    for tier in Tier:
        print(row("default", count, tier, PowerLimits()), flush=True)
    for tier in (Tier.SMOKE, Tier.VALIDATE):
        print(row("`--power-budget 1000`", count, tier, megawatt), flush=True)
    print(row("`--power-ramp 20`", count, Tier.SOAK, PowerLimits(20_000)), flush=True)
    print(row("`--in-step`", count, Tier.VALIDATE, PowerLimits(in_step=True)), flush=True)
    print(f"\n{time.monotonic() - begun:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
