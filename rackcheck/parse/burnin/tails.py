"""How far a value of a healthy part may lie from its peers, for normal and for heavy-tailed parts. Pure.

A healthy fleet should exceed the bound with probability `BUDGET`, in any of its GPUs and in any of at most `METRICS`
metrics together (Bonferroni's inequality, which holds for dependent metrics too). The bound therefore grows with the
number of GPUs. It depends most on how often healthy parts are far from their peers. Two distributions are considered:
the normal distribution, and Student's t with 5 degrees of freedom, whose bound is about three times as wide. The narrow
bound is used only if the values themselves exclude heavy tails (`evidence`).

The constants with a comment `simulated` were chosen by `benchmarks/straggler.py`, whose table shows what they achieve;
`WIDER` was derived by it.
"""

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from statistics import NormalDist

BUDGET = 0.01
"""Intended maximum probability of any finding in a healthy fleet, over all GPUs and metrics.

In simulations with heavy tails in one metric alone it is up to 10 % (docs/guide/burnin.md).
"""

KNOWN_BUDGET, NARROW_BUDGET = 0.009, 0.006
"""The probability from which the bound for a known width, and the narrow bound, are computed; simulated.

Both are less than `BUDGET`, because a width is uncertain, and because heavy tails may not be recognised.
"""

ALONE_BUDGET, PLACED_BUDGET, FEW_BUDGET = 0.0077, 0.0088, 0.0055
"""The probabilities for which `WIDER` is derived: if eight metrics are compared with the median of all GPUs; if eight
metrics are compared with the value predicted from node and slot; for either, with fewer than `ENOUGH` GPUs.

They are less than `BUDGET`: of healthy racks with heavy tails, about 0.1 % have a finding by the narrow bound, and with
64 GPUs about 0.1 % have one by `SHARED`. With smaller values of the first two, fewer than 90 % of the GPUs are found
that are 20 % slow among 128 GPUs with heavy tails.
"""

METRICS = 8
"""Maximum number of metrics that share the budget."""

WIDTH_OF_T = 1.16
"""The width (`spans.width`) of Student's t with 5 degrees of freedom and scale 1; computed by `straggler.py`."""

ENOUGH, ENOUGH_EXACT = 96, 48
"""Minimum number of GPUs for the narrow bound: in general, and for an exact metric (`family.PeerMetric`); simulated."""

FREEDOM = 0.6
"""Degrees of freedom of a width, divided by those of the values from which it is estimated; simulated."""

WIDER: Mapping[int, Mapping[int, float]] = {
    0: {16: 1.281, 24: 1.190, 48: 1.128, 64: 1.117, 72: 1.114, 96: 1.036, 128: 1.033, 192: 1.032, 1152: 1.032},
    3: {15: 4.164, 18: 3.749, 24: 2.591, 48: 2.041, 72: 1.870, 96: 1.581, 192: 1.484, 1152: 1.426},
    4: {16: 1.717, 24: 1.328, 48: 1.273, 64: 1.222, 72: 1.209, 96: 1.069, 128: 1.044, 192: 1.034, 1152: 1.007},
    6: {16: 1.366, 24: 1.239, 48: 1.150, 64: 1.150, 72: 1.136, 96: 1.027, 128: 1.015, 192: 1.008, 1152: 0.999},
}
"""How much wider the wide bound is than that of a known width (`known_bound`).

The values are derived (rackcheck.derived) by `straggler.py wide 4000`. The keys are the fewest values from which the
level of a slot, or the effect of a node, is computed (0: neither is removed), and then the number of GPUs. A width, and
an expected value, are themselves uncertain: more for few GPUs, and most if a level is the median of three values,
because a third of the differences is then 0, which reduces the width.
For levels of three values and up to 24 GPUs, the error of the simulation is about 15 %.
"""

NEAR = -2.5
"""Values below this number of widths are not evidence of tails: they may be faulty parts."""

UNLIKELY = math.log(15)
"""Heavy tails are excluded if normal tails explain all metrics' values better by a factor of at least 15; simulated."""

ODDS = math.log(6)
"""The bound of a metric is wide if heavy tails explain its own values better by a factor of more than 6; simulated."""

SHARED, SIXTEENTH, FEWEST = 4.0, 16, 4
"""A bound in widths: if at least a sixteenth of the GPUs, and at least four, exceed it, these GPUs count as faulty.

Of healthy parts with heavy tails, 0.4 % exceed it.
"""

_NORMAL = NormalDist()


@lru_cache(maxsize=4096)
def bound(cells: int, freedom: int, *, narrow: bool, fewest: int = 0) -> float:
    """Return the outlier threshold for a fleet of `cells` GPUs (at least 2), as a multiple of the width.

    `freedom` is the number of degrees of freedom of the values from which the width is estimated. `fewest` is the
    smallest number of values from which the level of a slot or the effect of a node was computed; 0 if none was.
    """
    wide = known_bound(cells) * wider(cells, fewest)
    if not narrow:
        return wide
    return min(wide, student_quantile(NARROW_BUDGET / METRICS / cells, FREEDOM * max(2, freedom)))


def wider(cells: int, fewest: int) -> float:
    """Return the factor of `WIDER`; between two numbers of GPUs, it is interpolated by their logarithms."""
    known = WIDER[max(key for key in WIDER if key <= fewest)]
    sizes = sorted(known)
    cells = min(max(cells, sizes[0]), sizes[-1])
    low = max(size for size in sizes if size <= cells)
    high = min(size for size in sizes if size >= cells)
    share = math.log(cells / low) / math.log(high / low) if high > low else 0.0
    return known[low] + share * (known[high] - known[low])


def wide_budget(cells: int, fewest: int) -> float:
    """Return the probability of any finding by the wide bound, in eight metrics, for which `WIDER` is derived."""
    return FEW_BUDGET if cells < ENOUGH else PLACED_BUDGET if fewest else ALONE_BUDGET


@lru_cache(maxsize=4096)
def known_bound(cells: int) -> float:
    """Return the wide bound of a fleet whose width is given, not computed from its own values."""
    return t5_quantile(KNOWN_BUDGET / METRICS / cells) / WIDTH_OF_T


def together(cells: int) -> int:
    """Return how many of `cells` GPUs must exceed the bound `SHARED` before it replaces the bound of a single GPU."""
    return max(FEWEST, -(-cells // SIXTEENTH))


def evidence(values: Iterable[float]) -> float:
    """Return the logarithm of how many times better heavy tails explain the values than normal tails do.

    `values` are differences from the expected value, in widths. Both distributions have the same width, and are
    conditional on a value above `NEAR`, because lower values are left out.
    """
    return math.fsum(_ratio(value) for value in values if value > NEAR)


def _ratio(z: float) -> float:
    normal = -0.5 * math.log(2 * math.pi) - z * z / 2
    return _T5_LEVEL - 3 * math.log1p((z * WIDTH_OF_T) ** 2 / 5) - normal - _CUT


def t5_share(t: float) -> float:
    """Return the probability that Student's t with 5 degrees of freedom is below `t` (Abramowitz and Stegun 26.7.3)."""
    angle = math.atan(t / math.sqrt(5))
    cosine = math.cos(angle)
    return 0.5 + (angle + math.sin(angle) * (cosine + 2 / 3 * cosine**3)) / math.pi


def t5_quantile(share: float) -> float:
    """Return the value that Student's t with 5 degrees of freedom exceeds with probability `share` (below 0.5)."""
    low, high = -1e6, 0.0
    for _ in range(100):
        half = (low + high) / 2
        low, high = (half, high) if t5_share(half) < share else (low, half)
    return -high


def student_quantile(share: float, freedom: float) -> float:
    """Return the value that Student's t exceeds with probability `share` (Abramowitz and Stegun 26.7.5).

    The expansion is accurate within 1 % for at least 10 degrees of freedom and shares of at least 1e-5.
    """
    z = -_NORMAL.inv_cdf(share)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


_T5_LEVEL = math.log(WIDTH_OF_T * 8 / (3 * math.pi * math.sqrt(5)))
_CUT = math.log(1 - t5_share(NEAR * WIDTH_OF_T)) - math.log(1 - _NORMAL.cdf(NEAR))
