"""How often our rules and other tools' rules find a slow GPU in simulated racks, and how often they name a healthy one.

    python benchmarks/straggler.py [wide|power|best|tools [RACKS [PARTS [SEED]]]]

RACKS (300) simulated racks of each kind, seeded.

`wide` derives the factors `WIDER` of `rackcheck.parse.burnin.tails` (4,000 groups of each shape take 3 minutes). In a
group whose values have the tails of Student's t with 5 degrees of freedom, one GPU is moved far below the others. The
width and the expected value of this GPU do not depend on how far, so the probability that a healthy value in its place
is beyond a bound is that of Student's t, and the probability for the group is that times the number of GPUs. The mean
over the groups of this probability is far more exact than a count of groups with a finding.

`power` shows what the bounds achieve, and is the source of the constants marked *simulated*: groups
of 2 to 1,024 GPUs whose eight metrics vary by 1.5 % (standard deviation), with normal or heavy tails (Student's t with
5 degrees of freedom), healthy, and with GPUs that are 5, 10, 20 or 50 % worse in one metric. `ours` is all that the
burn-in compares among nodes: those bounds, and the fixed bound of `rackcheck_probes.burnin.among_best`, here for all
eight metrics. Other methods are simulated with a tenth of RACKS, and groups of 1,024 GPUs with a sixteenth, but with at
least 20. With PARTS ("normal", "rate heavy", "other heavy" or "heavy (t5)"), only these parts are simulated; all parts
with 600 racks take 6 minutes. Another SEED gives other racks.

`best` checks the fixed bound alone, in seven metrics: the share of healthy groups with a finding, also where the nodes
differ by 1.5 % too (`node`), and the share of findings that Student's t lets expect without a difference of nodes.

`tools` compares our rules with those of other tools. A rack is 16 nodes of 8 GPUs with assumed spreads (standard
deviations; no real ones are published): position in the chassis 1.5 %, node 0.5 %, chip 1.0 %, work per clock 0.2 %.
The racks are clean, or have one GPU that is 4 or 6 % slow, because the GPU does less work per clock, or because its
clock is low. Then missing GPUs, and a hall of 10,000 nodes.
"""

import math
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median, stdev

from rackcheck.parse.burnin import tails
from rackcheck.parse.burnin.family import Compared, GpuPlace, PeerMetric, compare
from rackcheck.parse.burnin.polish import polish, scale
from rackcheck.parse.burnin.quartile import upper_quartile
from rackcheck.parse.burnin.spans import CLIP, CellTable, NumberRange, apart, width
from rackcheck.parse.burnin.straggler import Measured, PeerComparison, StragglerOutcome, judge
from rackcheck_probes.burnin import among_best

NODES, SLOTS = 16, 8
POSITION, NODE, CHIP, WORK = 0.015, 0.005, 0.01, 0.002
REFERENCE = 6.4e14
"""The average rate of a GPU: the reference for rules that compare with one."""

Rack = Sequence[Measured]
Rule = Callable[[Rack], set[int]]

# ---- the bounds ------------------------------------------------------------------------------------------------------

SPREAD, FLOOR, PLACED = 0.015, 0.03, "slot"
SIZES = (2, 8, 16, 32, 64, 128, 1024)
EVERY = frozenset(range(tails.METRICS))
PARTS = {"normal": frozenset[int](), "rate heavy": frozenset({0}), "other heavy": frozenset({2}), "heavy (t5)": EVERY}
"""Kinds of healthy parts, by the metrics that have heavy tails."""

EXACT = tails.METRICS - 1
"""The metric that differs between identical chips only by errors of measurement, as work per clock does."""

FAULTS = ((2, 0.05), (3, 0.1), (4, 0.2), (0, 0.1), (1, 0.2), (5, 0.5))
"""The metrics in which one GPU each is worse, and by how much."""


@dataclass
class Tally:
    """What one method finds: racks, healthy racks with a finding, and found GPUs by fault."""

    racks: int = 0
    false: int = 0
    found: list[int] = field(default_factory=lambda: [0] * len(FAULTS))


def healthy(rng: random.Random, gpus: int, heavy: frozenset[int]) -> list[list[float]]:
    """Return the logarithms of the values of each metric."""
    return [
        [t5(rng) * SPREAD / math.sqrt(5 / 3) if metric in heavy else rng.gauss(0, SPREAD) for _ in range(gpus)]
        for metric in range(tails.METRICS)
    ]


def t5(rng: random.Random) -> float:
    """Return a number from Student's t with 5 degrees of freedom."""
    return rng.gauss(0, 1) / math.sqrt(rng.gammavariate(2.5, 2) / 5)


def placed(metric: int) -> bool:
    """Return whether node and slot are removed from a metric: from the first two, neither of which depends on them."""
    return metric < 2


def fixed(z: float, effect: float) -> Callable[[Sequence[GpuPlace], Sequence[Sequence[float]]], list[set[int]]]:
    """Return the method of a fixed limit in robust standard deviations, and of a smallest effect."""

    def method(places: Sequence[GpuPlace], logs: Sequence[Sequence[float]]) -> list[set[int]]:
        return [_beyond(places, values, metric, lambda _n, _f, _l: -z, effect) for metric, values in enumerate(logs)]

    return method


def bounded(narrow: bool) -> Callable[[Sequence[GpuPlace], Sequence[Sequence[float]]], list[set[int]]]:
    """Return the method of one bound, narrow or wide, whatever the tails are."""

    def method(places: Sequence[GpuPlace], logs: Sequence[Sequence[float]]) -> list[set[int]]:
        def bound(cells: int, free: int, fewest: int) -> float:
            return tails.bound(cells, free, narrow=narrow, fewest=fewest)

        return [_beyond(places, values, metric, bound, FLOOR) for metric, values in enumerate(logs)]

    return method


def _beyond(
    places: Sequence[GpuPlace],
    logs: Sequence[float],
    metric: int,
    bound: Callable[[int, int, int], float],
    effect: float,
) -> set[int]:
    rows = [int(node[1:]) if placed(metric) else 0 for node, _ in places]
    columns = [int(slot) if placed(metric) else 0 for _, slot in places]
    found = apart(CellTable([NumberRange(v, v) for v in logs], rows, columns), by_row=placed(metric))
    spread, fewest = width(found.left, found.taken).low, min(found.fewest) if placed(metric) else 0
    line = min(math.log1p(-effect), -bound(len(logs), len(logs) - found.taken, fewest) * spread)
    return {n for n, left in enumerate(found.left) if left.low < line}


def adaptive(places: Sequence[GpuPlace], logs: Sequence[Sequence[float]]) -> list[set[int]]:
    """Return what the burn-in finds."""
    metrics = {
        f"{metric:02}": PeerMetric([math.exp(v) for v in values], FLOOR, placed(metric), exact=metric == EXACT)
        for metric, values in enumerate(logs)
    }
    return [slow(held) for held in compare(places, metrics).values()]


def by_quartile(_: Sequence[GpuPlace], logs: Sequence[Sequence[float]]) -> list[set[int]]:
    """Return the GPUs that are far below the upper quartile of their kind, in each metric."""
    lines = [upper_quartile(map(math.exp, values)).low * (1 - among_best.APART) for values in logs]
    return [{n for n, v in enumerate(values) if math.exp(v) < line} for values, line in zip(logs, lines, strict=True)]


def both(places: Sequence[GpuPlace], logs: Sequence[Sequence[float]]) -> list[set[int]]:
    """Return what the burn-in finds with both comparisons."""
    return [one | other for one, other in zip(adaptive(places, logs), by_quartile(places, logs), strict=True)]


METHODS = {
    "z < -4, 1 %": fixed(-4.0, 0.01),
    "z < -6, 6 %": fixed(-6.0, 0.06),
    "narrow": bounded(narrow=True),
    "wide": bounded(narrow=False),
    "ours": both,
}
"""Methods: fixed limits, the bound for normal parts, that for heavy tails, and a choice between these two bounds.

The last method also has the fixed bound below the upper quartile.
"""


def tally(gpus: int, heavy: frozenset[int], racks: int, methods: Sequence[str], other: str = "") -> dict[str, Tally]:
    """Judge healthy racks, and the same racks with a GPU that is worse in one metric for each of `FAULTS`.

    `other` is a part of the seed.
    """
    places = [(f"n{n // SLOTS}", str(n % SLOTS)) for n in range(gpus)]
    found = {name: Tally() for name in methods}
    for seed in range(racks):
        rng = random.Random(f"{other}{gpus} {sorted(heavy)} {seed}")  # noqa: S311
        logs = healthy(rng, gpus, heavy)
        bent = [list(values) for values in logs]
        bad = [rng.randrange(gpus) for _ in FAULTS]
        for number, (metric, effect) in zip(bad, FAULTS, strict=True):
            bent[metric][number] += math.log1p(-effect)
        for name in methods:
            one = found[name]
            one.racks += 1
            one.false += any(METHODS[name](places, logs))
            named = METHODS[name](places, bent)
            for n, (number, (metric, _)) in enumerate(zip(bad, FAULTS, strict=True)):
                one.found[n] += number in named[metric]
    return found


Shape = tuple[int, int]
"""Numbers of nodes, and of GPUs in each node."""

SHAPES: Mapping[int, Mapping[int, Sequence[Shape]]] = {
    0: {n: ((n, 1),) for n in (16, 24, 48, 64, 72, 96, 128, 192, 1152)},
    3: {n: ((3, n // 3), (n // 3, 3)) for n in (15, 18, 24, 48, 72, 96, 192, 1152)},
    4: {n: ((4, n // 4), (n // 4, 4)) for n in (16, 24, 48, 64, 72, 96, 128, 192, 1152)},
    6: {
        16: ((2, 8), (8, 2)),
        24: ((2, 12), (12, 2)),
        **{n: ((6, n // 6), (n // 6, 6), (8, n // 8), (n // 8, 8)) for n in (48, 72, 96, 192, 1152)},
        64: ((8, 8),),
        128: ((8, 16), (16, 8)),
    },
}
"""Racks by the fewest values of a level or effect (0: the GPUs are compared with the median of all) and by GPUs.

If a line has fewer than three values, it has no level or effect of its own.
"""


def drawn(rng: random.Random, shape: Shape, by_row: bool) -> tuple[float, float]:
    """Return the expected value of a GPU that is far below the others, and the width of all values."""
    nodes, slots = shape
    gpus = nodes * slots
    bad, far = rng.randrange(gpus), -1e4
    values = [far if n == bad else t5(rng) for n in range(gpus)]
    rows, columns = (
        ([n // slots for n in range(gpus)], [n % slots for n in range(gpus)]) if by_row else ([0] * gpus,) * 2
    )
    found = apart(CellTable([NumberRange(v, v) for v in values], rows, columns), by_row=by_row)
    return far - found.left[bad].low, width(found.left, found.taken).low


def factor(shape: Shape, fewest: int, racks: int, seed: str = "") -> float:
    """Return the factor by which the wide bound of racks of a shape must be wider than that of a known width."""
    gpus = shape[0] * shape[1]
    rng = random.Random(f"{seed}{shape} {fewest}")  # noqa: S311
    pairs = [drawn(rng, shape, fewest > 0) for _ in range(racks)]
    share = tails.wide_budget(gpus, fewest) / tails.METRICS / gpus
    low, high = 0.5, 16.0
    for _ in range(20):
        half = (low + high) / 2
        bound = half * tails.known_bound(gpus)
        beyond = math.fsum(tails.t5_share(middle - bound * spread) for middle, spread in pairs) / racks
        low, high = (half, high) if beyond > share else (low, half)
    return high


def wide(racks: int) -> None:
    """Print `tails.WIDER`: for each number of GPUs, the factor of the shape that needs the widest bound."""
    for fewest, sizes in SHAPES.items():
        found = {
            n: max(factor(shape, fewest, racks if n < 1000 else max(100, racks // 10)) for shape in shapes)
            for n, shapes in sizes.items()
        }
        print(f"    {fewest}: {{{', '.join(f'{n}: {each:.3f}' for n, each in found.items())}}},", flush=True)


def power(racks: int, only: str = "", other: str = "") -> None:
    """Print the share of healthy racks with a finding in any of eight metrics, and the share of slow GPUs found."""
    print(f"spread {SPREAD:.1%}, {tails.METRICS} metrics; slot: compared with the value expected for node and slot")
    head = f"{'parts':12}{'GPUs':>5} {'method':12}{'racks':>6}{'false':>7}"
    head += "".join(f"{f'{PLACED if placed(metric) else str()} -{effect:.0%}':>11}" for metric, effect in FAULTS)
    print(head)
    for parts, heavy in PARTS.items():
        for gpus in SIZES if only in ("", parts) else ():
            runs = racks if gpus < 1024 else max(20, racks // 16)
            others = [name for name in METHODS if name != "ours"] if gpus >= 16 else []
            found = tally(gpus, heavy, max(20, runs // 10), others, other)
            found |= tally(gpus, heavy, runs, ["ours"], other)
            for name, one in found.items():
                print(
                    f"{parts:12}{gpus:5} {name:12}{one.racks:6}{one.false / one.racks:7.1%}"
                    + "".join(f"{count / one.racks:11.1%}" for count in one.found),
                    flush=True,
                )


def best(racks: int) -> None:
    """Print the share of healthy groups in which the fixed bound names any GPU, in any of the metrics."""
    metrics = len(among_best.METRICS)
    line = -math.log1p(-among_best.APART)
    scale_of_t = SPREAD / math.sqrt(5 / 3)
    share = tails.t5_share(tails.t5_quantile(0.75) - line / scale_of_t)
    print(f"{metrics} metrics, {among_best.APART:.0%} below the upper quartile, spread {SPREAD:.1%}")
    print(f"{'parts':18}{'GPUs':>6}{'racks':>7}{'false':>8}{'expected':>10}")
    for name, draw, node in (
        ("normal", lambda rng: rng.gauss(0, 1), 0.0),
        ("heavy (t5)", lambda rng: t5(rng) / math.sqrt(5 / 3), 0.0),
        ("heavy (t5), node", lambda rng: t5(rng) / math.sqrt(5 / 3), SPREAD),
    ):
        for gpus in (32, 128, 1024):
            runs, false = racks * 128 // gpus, 0
            for seed in range(runs):
                rng = random.Random(f"{name} {gpus} {seed}")  # noqa: S311
                false += any(by_quartile([], [one]) != [set()] for one in _fleets(rng, gpus, metrics, draw, node))
            chance = f"{1 - (1 - share) ** (gpus * metrics):10.2%}" if name == "heavy (t5)" else f"{'':10}"
            print(f"{name:18}{gpus:6}{runs:7}{false / runs:8.2%}{chance}", flush=True)


def _fleets(
    rng: random.Random, gpus: int, metrics: int, draw: Callable[[random.Random], float], node: float
) -> list[list[float]]:
    """Return the logarithms of the values of each metric of a group of GPUs whose nodes differ by `node`."""
    rows = [[node * draw(rng) for _ in range(gpus // SLOTS)] for _ in range(metrics)]
    return [[row[n // SLOTS] + SPREAD * draw(rng) for n in range(gpus)] for row in rows]


def constants() -> None:
    """Print the constants of `tails` and `spans` that follow from the distributions, by numerical integration."""
    steps = [(n + 0.5) / 200_000 for n in range(200_000)]
    normal = [tails.student_quantile(1 - share, 1e12) for share in steps]
    clipped = math.fsum(min(z * z, CLIP * CLIP) for z in normal) / len(normal)
    heavy = [tails.t5_quantile((n + 0.5) / 10_000) for n in range(5000)]
    wide = 1.0
    for _ in range(50):
        wide = math.sqrt(math.fsum(min(t * t, (CLIP * wide) ** 2) for t in heavy) / len(heavy) / clipped)
    print(f"mean square of clipped normal values {clipped:.4f}; width of t5 {wide:.4f} (in use: {tails.WIDTH_OF_T})")
    errors = ", ".join(f"{name} {_error(estimate):.1%}" for name, estimate in WIDTHS.items())
    print(f"relative error of a width, 128 values with the tails of t5: {errors}")


def _error(estimate: Callable[[Sequence[float]], float], groups: int = 2000, gpus: int = 128) -> float:
    """Return the relative standard deviation of a width of values with the tails of t5, over simulated groups."""
    rng = random.Random(5)  # noqa: S311
    widths = [estimate([t5(rng) for _ in range(gpus)]) for _ in range(groups)]
    return stdev(widths) / fmean(widths)


def likeliest(values: Sequence[float]) -> float:
    """Return the maximum-likelihood estimate of the scale of values with the tails of t5: no width is more exact."""
    square = math.fsum(v * v for v in values) / len(values)
    for _ in range(30):
        square = math.fsum(6 * v * v / (5 + v * v / square) for v in values) / len(values)
    return math.sqrt(square)


WIDTHS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "ours": lambda values: width([NumberRange(v, v) for v in values]).low,
    "maximum likelihood": likeliest,
}


# ---- other tools' rules ----------------------------------------------------------------------------------------------


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


def slow(held: Sequence[PeerComparison | Compared]) -> set[int]:
    """Return the numbers of the slow GPUs."""
    return {n for n, one in enumerate(held) if one.outcome is StragglerOutcome.SLOW}


def ours(rack: Rack) -> Mapping[str, tuple[Compared, ...]]:
    """Compare the GPUs of a rack as the burn-in does, with no more metrics than rate and work per clock."""
    each = [gpu.rate / gpu.clock if gpu.rate and gpu.clock else None for gpu in rack]
    metrics = {
        "work": PeerMetric(each, 0.01, exact=True),
        "rate": PeerMetric([gpu.rate for gpu in rack], 0.06, placed=True),
    }
    return compare([(gpu.node, gpu.slot) for gpu in rack], metrics)


RULES: dict[str, Rule] = {
    "within 10 % of its node's best (gpu-fryer)": of_best,
    "75 % of a reference (DCGM diag)": of_reference,
    "fleet's median -5 % (SuperBench's examples)": of_median,
    "robust z < -3.5 on the raw rate": robust,
    "median polish, z < -3.5": polished(-3.5, 0.0),
    "median polish, z < -3 and effect < -3 %": polished(-3.0, -0.03),
    "ours, rate at the cap (remark)": lambda rack: slow(judge(rack).rate),
    "ours, rate at the cap (fault)": lambda rack: slow(ours(rack)["rate"]),
    "ours, work per clock (fault)": lambda rack: slow(ours(rack)["work"]),
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
            per_clock = ours(rack)["work"]
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
    ours(rack)
    print(f"10,000 nodes x 8 GPUs, two metrics, judged in {time.perf_counter() - began:.2f} s")


def main() -> None:
    """Print one part, or both."""
    part = sys.argv[1] if len(sys.argv) > 1 else "power best tools"
    racks = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    if "wide" in part:
        wide(racks)
    if "power" in part:
        constants()
        power(racks, *sys.argv[3:5])
    if "best" in part:
        best(racks)
    if "tools" in part:
        table(racks)
        holes(racks)
        hall()


if __name__ == "__main__":
    main()
