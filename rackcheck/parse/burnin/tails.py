"""How far a value of a healthy part may lie from its peers, for normal and for heavy-tailed parts. Pure.

A healthy fleet should exceed the bound with probability `BUDGET`, in any of its GPUs and in any of at most `METRICS`
metrics together (Bonferroni's inequality, which holds for dependent metrics too). The bound therefore grows with the
number of GPUs. It depends most on how often healthy parts are far from their peers. Two distributions are considered:
the normal distribution, and Student's t with 5 degrees of freedom, whose bound is about three times as wide. The narrow
bound is used only if the values themselves exclude heavy tails (`evidence`).

The constants with a comment `simulated` were chosen by `benchmarks/straggler.py`, whose table shows what they achieve.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from statistics import NormalDist

BUDGET = 0.01
"""Intended maximum probability of any finding in a healthy fleet, over all GPUs and metrics.

In simulations with heavy tails in one metric alone it is up to 8 % (docs/guide/burnin.md).
"""

WIDE_BUDGET, NARROW_BUDGET = 0.009, 0.004
"""The probability from which each bound is computed; simulated.

Both are less than `BUDGET`, because a width is uncertain, and because heavy tails may not be recognised.
"""

METRICS = 8
"""Maximum number of metrics that share the budget."""

WIDTH_OF_T = 1.16
"""The width (`spans.width`) of Student's t with 5 degrees of freedom and scale 1; computed by `straggler.py`."""

ENOUGH, ENOUGH_EXACT = 96, 48
"""Minimum number of GPUs for the narrow bound: in general, and for an exact metric (`family.PeerMetric`); simulated."""

FREEDOM = 0.6
"""Degrees of freedom of a width, divided by those of the values from which it is estimated; simulated."""

MARGIN, FALL = 12.0, 1.25
"""The wide bound for n GPUs is increased by `MARGIN` / n ** `FALL`: a width is itself uncertain; simulated."""

NEAR = -2.5
"""Values below this number of widths are not evidence of tails: they may be faulty parts."""

UNLIKELY = math.log(10)
"""Heavy tails are excluded if normal tails explain all metrics' values better by a factor of at least 10; simulated."""

ODDS = math.log(6)
"""The bound of a metric is wide if heavy tails explain its own values better by a factor of more than 6; simulated."""

SHARED, SIXTEENTH, FEWEST = 4.0, 16, 4
"""A bound in widths: if at least a sixteenth of the GPUs, and at least four, exceed it, these GPUs count as faulty.

Of healthy parts with heavy tails, 0.4 % exceed it.
"""

_NORMAL = NormalDist()


@lru_cache(maxsize=4096)
def bound(cells: int, freedom: int, *, narrow: bool) -> float:
    """Return the outlier threshold for a fleet of `cells` GPUs (at least 2), as a multiple of the width.

    `freedom` is the number of degrees of freedom of the values from which the width is estimated.
    """
    wide = known_bound(cells) * (1 + MARGIN / math.pow(cells, FALL))
    if not narrow:
        return wide
    return min(wide, student_quantile(NARROW_BUDGET / METRICS / cells, FREEDOM * max(2, freedom)))


@lru_cache(maxsize=4096)
def known_bound(cells: int) -> float:
    """Return the wide bound of a fleet whose width is given, not computed from its own values."""
    return t5_quantile(WIDE_BUDGET / METRICS / cells) / WIDTH_OF_T


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
