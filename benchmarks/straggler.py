"""What our rules and other tools' rules find on the same simulated racks, and the GPUs that they name wrongly.

    python benchmarks/straggler.py [RACKS]

A rack is 16 nodes of 8 GPUs with assumed spreads (standard deviations; no real ones are published): position in the
chassis 1.5 %, node 0.5 %, chip 1.0 %, work per clock 0.2 %. RACKS (300) of each kind, seeded: clean racks, and racks
with one GPU that is 4 or 6 % slow, because the GPU does less work per clock, or because its clock is low. Then missing
GPUs, a hall of 10,000 nodes, and pairs of nodes in which one NIC is a fifth slow.
"""

import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from statistics import median

from rackcheck.parse.burnin.pairs import PairOutcome, matchings, round_robin, solve
from rackcheck.parse.burnin.polish import polish, scale
from rackcheck.parse.burnin.straggler import Measured, PeerComparison, StragglerOutcome, judge

NODES, SLOTS = 16, 8
POSITION, NODE, CHIP, WORK = 0.015, 0.005, 0.01, 0.002
REFERENCE = 6.4e14
"""The average rate of a GPU: the reference for rules that compare with one."""

Rack = Sequence[Measured]
Rule = Callable[[Rack], set[int]]


def simulated(rng: random.Random, nodes: int = NODES, bad: int = -1, clock: float = 1.0, work: float = 1.0) -> Rack:
    """Return one rack; the GPU of number `bad` has its clock and work per clock multiplied."""
    positions = [1 + rng.gauss(0, POSITION) for _ in range(SLOTS)]
    gpus: list[Measured] = []
    for n in range(nodes):
        own = 1 + rng.gauss(0, NODE)
        for s, position in enumerate(positions):
            ticks = 1.6e9 * position * own * (1 + rng.gauss(0, CHIP))
            each = REFERENCE / 1.6e9 * (1 + rng.gauss(0, WORK))
            if len(gpus) == bad:
                ticks, each = ticks * clock, each * work
            gpus.append(Measured(f"n{n:05}", f"gpu/{s}", ticks * each, ticks))
    return gpus


def rates(rack: Rack) -> list[float]:
    """Return the rates, none of which is missing here."""
    return [gpu.rate or 0.0 for gpu in rack]


def of_best(rack: Rack) -> set[int]:
    """gpu-fryer: more than 10 % below the best GPU of its node."""
    all_of = rates(rack)
    best = [max(all_of[n : n + SLOTS]) for n in range(0, len(all_of), SLOTS)]
    return {n for n, rate in enumerate(all_of) if rate < 0.9 * best[n // SLOTS]}


def of_reference(rack: Rack) -> set[int]:
    """DCGM diag: below 75 % of a reference."""
    return {n for n, rate in enumerate(rates(rack)) if rate < 0.75 * REFERENCE}


def of_median(rack: Rack) -> set[int]:
    """SuperBench: more than 5 % below the fleet's median, as in its examples."""
    middle = median(rates(rack))
    return {n for n, rate in enumerate(rates(rack)) if rate < 0.95 * middle}


def robust(rack: Rack) -> set[int]:
    """A robust z below -3.5 on the raw rate."""
    middle, spread = median(rates(rack)), scale(rates(rack))
    return {n for n, rate in enumerate(rates(rack)) if rate - middle < -3.5 * spread}


def polished(z: float, effect: float) -> Rule:
    """Tukey's median polish of nodes and slots, then a robust z, and an effect."""

    def rule(rack: Rack) -> set[int]:
        cells = {(gpu.node, gpu.slot): gpu.rate or 0.0 for gpu in rack}
        found = polish(cells)
        spread = scale(found.left.values())
        left = [found.left[gpu.node, gpu.slot] for gpu in rack]
        return {n for n, by in enumerate(left) if by < z * spread and by < effect * found.level}

    return rule


def slow(held: Sequence[PeerComparison], far: bool = False) -> set[int]:
    """Return the numbers of the slow GPUs."""
    return {n for n, one in enumerate(held) if (one.far if far else one.outcome) is StragglerOutcome.SLOW}


RULES: dict[str, Rule] = {
    "within 10 % of its node's best (gpu-fryer)": of_best,
    "75 % of a reference (DCGM diag)": of_reference,
    "fleet's median -5 % (SuperBench's examples)": of_median,
    "robust z < -3.5 on the raw rate": robust,
    "median polish, z < -3.5": polished(-3.5, 0.0),
    "median polish, z < -3 and effect < -3 %": polished(-3.0, -0.03),
    "ours, rate at the cap (remark)": lambda rack: slow(judge(rack).rate),
    "ours, rate at the cap, far (fault)": lambda rack: slow(judge(rack).rate, far=True),
    "ours, work per clock (fault)": lambda rack: slow(judge(rack).work_per_clock),
}

KINDS = {
    "work 4 %": (1.0, 0.96),
    "work 6 %": (1.0, 0.94),
    "clock 4 %": (0.96, 1.0),
    "clock 6 %": (0.94, 1.0),
    "clock 15 %": (0.85, 1.0),
}


def table(racks: int) -> None:
    """Print what each rule finds of each kind, and how many GPUs of a clean rack it names."""
    clean = [simulated(random.Random(seed)) for seed in range(racks)]  # noqa: S311
    bent: dict[str, list[tuple[int, Rack]]] = {}
    for kind, (clock, work) in KINDS.items():
        rng = random.Random(kind)  # noqa: S311
        at = [rng.randrange(NODES * SLOTS) for _ in range(racks)]
        bent[kind] = [(bad, simulated(rng, NODES, bad, clock, work)) for bad in at]
    print(f"{racks} racks of {NODES} x {SLOTS} of each kind; found, and GPUs wrongly named in a clean rack")
    print(f"{'rule':45}" + "".join(f"{kind:>11}" for kind in KINDS) + f"{'blamed':>10}")
    for name, rule in RULES.items():
        found = [sum(bad in rule(rack) for bad, rack in bent[kind]) / racks for kind in KINDS]
        blamed = sum(len(rule(rack)) for rack in clean) / racks
        print(f"{name:45}" + "".join(f"{part:11.1%}" for part in found) + f"{blamed:10.3f}")
    judged = [judge(rack) for rack in clean]
    slots, nodes = (
        sum(len(slow(part)) for part in parts) for parts in zip(*((j.slots, j.nodes) for j in judged), strict=True)
    )
    far = sum(len(slow(part, far=True)) for j in judged for part in (j.work_per_clock, j.rate, j.nodes))
    print(f"clean racks, ours: {far} faults of GPUs and nodes, {nodes} nodes named", end=", ")
    print(f"{slots / racks:.3f} slots a rack named: positions differ here as much as airflow allows")


def holes(racks: int) -> None:
    """Print the findings and clearances that remain when GPUs stop reporting."""
    for part in (0.01, 0.05, 0.1, 0.2):
        rng = random.Random(11)  # noqa: S311
        found, blamed, undecided = 0, 0, 0
        for _ in range(racks):
            bad = rng.randrange(NODES * SLOTS)
            rack = [
                replace(gpu, rate=None) if n != bad and rng.random() < part else gpu
                for n, gpu in enumerate(simulated(rng, NODES, bad, 1.0, 0.96))
            ]
            per_clock = judge(rack).work_per_clock
            found += bad in slow(per_clock)
            blamed += len(slow(per_clock) - {bad})
            undecided += sum(
                one.outcome is StragglerOutcome.NOT_TESTED for one, gpu in zip(per_clock, rack, strict=True) if gpu.rate
            )
        print(
            f"{part:4.0%} silent: 4 % less per clock found {found / racks:6.1%}, wrongly named {blamed / racks:.3f}, "
            f"not decided {undecided / racks:.2f} reporting GPUs per rack"
        )


def hall() -> None:
    """Print the time of judging 10,000 nodes of 8 GPUs."""
    rack = simulated(random.Random(1), 10_000)  # noqa: S311
    began = time.perf_counter()
    judge(rack)
    print(f"10,000 nodes x 8 GPUs judged in {time.perf_counter() - began:.2f} s")


def fabrics(count: int, whole: bool, tries: int) -> None:
    """Print how often a NIC that is a fifth slow is named; pairs vary by 3 %, NICs by 1 %."""
    ends = [f"n{n:05}" for n in range(count)]
    named, ends_wrong, links_wrong, rounds, took = 0, 0, 0, 0, 0.0
    for seed in range(tries):
        rng = random.Random(seed)  # noqa: S311
        schedule = round_robin(ends) if whole else matchings(ends, 6, seed)
        rounds = len(schedule)
        bad = rng.choice(ends)
        own = {end: 50e9 * rng.gauss(1, 0.01) * (0.8 if end == bad else 1) for end in ends}
        value = {(a, b): min(own[a], own[b]) * rng.gauss(1, 0.03) for a, b in chain(*schedule)}
        began = time.perf_counter()
        found = solve(value)
        took += time.perf_counter() - began
        blamed = {end for end, one in found.ends.items() if one.outcome is PairOutcome.SLOW}
        named += bad in blamed
        ends_wrong += len(blamed - {bad})
        links_wrong += sum(one.outcome is PairOutcome.SLOW for one in found.links.values())
    how = "round-robin" if whole else "matchings"
    print(
        f"{count:5} nodes, {rounds:2} rounds of {how} ({rounds * 5} s at 5 s): named {named / tries:6.1%}; of {tries} "
        f"fabrics {ends_wrong} ends and {links_wrong} links wrongly; {took / tries * 1e3:.0f} ms"
    )


def main() -> None:
    """Print all of it."""
    racks = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    table(racks)
    holes(racks)
    hall()
    for count, whole, tries in (
        (8, True, racks),
        (64, True, racks),
        (64, False, racks),
        (1024, False, max(20, racks // 5)),
    ):
        fabrics(count, whole, tries)


if __name__ == "__main__":
    main()
