"""Finds GPUs that are far worse than their peers in any of several metrics, from two GPUs on. Pure.

The GPUs must be alike: of one model and one default power limit. All metrics together are one family: the probability
that a healthy fleet has any finding should be at most `tails.BUDGET`. In each metric, more is better; a metric in which
less is better is given as its reciprocal.

From 16 GPUs on, the spread of a metric is estimated from its values, and each GPU is compared with the outlier
threshold (bound) of a single GPU. If many GPUs exceed a closer bound (`tails.SHARED`), all of these are faulty,
although none of them would be beyond doubt alone. With fewer GPUs, a spread cannot be told from a fault, so a typical
spread of the metric is assumed, and each GPU is compared with the median of the others.

A value that is not known may have any value (see `spans`). The tails of the family are then not known either: a GPU
between the narrow and the wide bound is not tested.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from rackcheck.parse.burnin import tails
from rackcheck.parse.burnin.spans import FINEST, HOLE, CellTable, NumberRange, apart, width
from rackcheck.parse.burnin.straggler import StragglerOutcome

ENOUGH = 16
"""Minimum number of GPUs for which the spread is estimated from their values alone."""

SEVERAL = 4
"""Minimum number of GPUs for which the estimated spread is used if it is larger than the typical spread."""

GpuPlace = tuple[str, str]
"""The name of a GPU's node, and its slot in this node."""


@dataclass(frozen=True, slots=True)
class PeerMetric:
    """One metric: the value of each GPU, in the order of the GPUs; unknown unless it is a positive finite number.

    `least` is the smallest relative difference that is a finding, for example 0.03. If `placed` is true, the values
    depend on node and slot, whose effects are removed. `typical` is the standard deviation (relative) that is assumed
    for fewer than 16 GPUs. If `evidence` is false, the values are not used to decide whether the distribution has heavy
    tails: use this for a metric that is not always measured. If `exact` is true, identical chips have identical values,
    and differences are errors of measurement: fewer GPUs are then enough for the narrow bound.
    """

    values: Sequence[float | None]
    least: float
    placed: bool = False
    typical: float = 0.02
    evidence: bool = True
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of one GPU: `effect` and `limit` are relative differences; both are None if they are not known.

    `why` is the reason why the GPU was not tested; empty if it was tested.
    """

    outcome: StragglerOutcome
    effect: float | None = None
    limit: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Split:
    """A metric's differences from the expected values, their width, and their degrees of freedom.

    If row and column effects were removed, `lines` has the row numbers and the column numbers of all cells; else it is
    empty. `fewest` has for each cell the smallest number of cells from which its own effects were computed; else 0.
    """

    left: Sequence[NumberRange]
    width: NumberRange
    free: int
    fewest: Sequence[int]
    lines: tuple[Sequence[int], ...]


def compare(places: Sequence[GpuPlace], metrics: Mapping[str, PeerMetric]) -> dict[str, tuple[Compared, ...]]:
    """Compare each GPU with its peers in each metric; the result has the order of `places`.

    Every expected GPU must be in `places`, even if it has no values. Raises ValueError if a GPU is repeated, if a
    metric has another number of values, or if there are more than `tails.METRICS` metrics.
    """
    if len(set(places)) < len(places):
        raise ValueError(f"{' '.join(next(place for place in places if places.count(place) > 1))} is listed twice")
    if len(metrics) > tails.METRICS:
        raise ValueError(f"{len(metrics)} metrics; the bounds are computed for at most {tails.METRICS}")
    for name, metric in metrics.items():
        if len(metric.values) != len(places):
            raise ValueError(f"{name} has {len(metric.values)} values for {len(places)} GPUs")
    logs = {name: [_log(value) for value in metric.values] for name, metric in metrics.items()}
    if len(places) < 2:
        return {name: tuple(Compared(StragglerOutcome.NOT_TESTED, why="no peers") for _ in places) for name in metrics}
    if len(places) < ENOUGH:
        return {name: _few(logs[name], metric) for name, metric in metrics.items()}
    splits = {name: _split(places, logs[name], metric) for name, metric in metrics.items()}
    narrow = _narrow(splits, metrics)
    return {name: _many(logs[name], metric, splits[name], narrow[name]) for name, metric in metrics.items()}


def _log(value: float | None) -> NumberRange:
    if value is None or not value > 0 or math.isinf(value):
        return HOLE
    return NumberRange(math.log(value), math.log(value))


def _few(values: Sequence[NumberRange], metric: PeerMetric) -> tuple[Compared, ...]:
    """Compare each of a few GPUs with the median of the others, whose variance is at most pi/2 times that of a mean."""
    left: list[NumberRange] = []
    for number, value in enumerate(values):
        others = [*values[:number], *values[number + 1 :]]
        left.append(value.less(NumberRange(median(o.low for o in others), median(o.high for o in others))))
    typical = metric.typical * math.sqrt(1 + math.pi / 2 / (len(values) - 1))
    own = width(left) if len(values) >= SEVERAL else NumberRange(0.0, 0.0)
    spread = NumberRange(max(typical, own.low), max(typical, own.high))
    bound = tails.known_bound(len(values))
    return tuple(_held(value, by, metric, spread, bound, bound) for value, by in zip(values, left, strict=True))


def _split(places: Sequence[GpuPlace], values: Sequence[NumberRange], metric: PeerMetric) -> _Split:
    if metric.placed:
        nodes, slots = _numbers([node for node, _ in places]), _numbers([slot for _, slot in places])
    else:
        nodes = slots = [0] * len(places)
    found = apart(CellTable(values, nodes, slots), by_row=metric.placed)
    lines = (nodes, slots) if metric.placed else ()
    fewest = found.fewest if metric.placed else [0] * len(places)
    return _Split(found.left, width(found.left, found.taken), len(places) - found.taken, fewest, lines)


def _numbers(names: Sequence[str]) -> list[int]:
    """Return the number of each name, in the order in which the names first occur."""
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return [known[name] for name in names]


def _narrow(splits: Mapping[str, _Split], metrics: Mapping[str, PeerMetric]) -> dict[str, bool | None]:
    """Return for each metric whether the values exclude heavy tails; None if this depends on missing values.

    Metrics that depend on node and slot also vary with chips and cooling, so they are not used as evidence for metrics
    that do not depend on them.
    """
    own = {name: _evidence(split) for name, split in splits.items()}
    found: dict[str, bool | None] = {}
    for name, value in own.items():
        pool = [
            own[other]
            for other, metric in metrics.items()
            if metric.evidence and (metrics[name].placed or not metric.placed)
        ]
        known = [each for each in pool if each is not None]
        if len(splits[name].left) < (tails.ENOUGH_EXACT if metrics[name].exact else tails.ENOUGH):
            found[name] = False
        elif value is None or len(known) < len(pool):
            found[name] = None
        else:
            found[name] = math.fsum(known) <= -tails.UNLIKELY and value <= tails.ODDS
    return found


def _evidence(split: _Split) -> float | None:
    """Return the evidence of heavy tails in one metric: 0 if the values do not differ, None if a value is missing.

    The width is that of the differences as they are: it is not increased to correct for the removed levels and effects.
    """
    if any(by.low != by.high for by in split.left):
        return None
    left: Sequence[float] = [by.low for by in split.left]
    for line in split.lines:
        left = _centred(left, line)
    own = width([NumberRange(value, value) for value in left]).low
    return tails.evidence(value / own for value in left) if own > FINEST else 0.0


def _centred(left: Sequence[float], line: Sequence[int]) -> Sequence[float]:
    """Subtract from each value the mean of its row or column; values far from 0 are clipped to compute the mean.

    Differences from medians have heavier tails than the values themselves; differences from means have not.
    """
    far = -tails.NEAR * width([NumberRange(value, value) for value in left]).low
    cells: dict[int, list[float]] = {}
    for number, value in zip(line, left, strict=True):
        cells.setdefault(number, []).append(max(-far, min(far, value)))
    means = {number: math.fsum(values) / len(values) for number, values in cells.items()}
    return [value - means[number] for number, value in zip(line, left, strict=True)]


def _many(
    values: Sequence[NumberRange], metric: PeerMetric, split: _Split, narrow: bool | None
) -> tuple[Compared, ...]:
    """Compare each of many GPUs with the bound of a single GPU, or with `tails.SHARED` if many GPUs exceed `SHARED`."""
    sure, possible = _lines(metric, split.width, tails.SHARED, tails.SHARED)
    enough = tails.together(len(values))
    shared = (
        sum(by.low < possible for by in split.left) >= enough,
        sum(by.high < sure for by in split.left) >= enough,
    )
    bounds = {fewest: _bounds(len(values), split.free, fewest, narrow, shared) for fewest in set(split.fewest)}
    return tuple(
        _held(value, by, metric, split.width, *bounds[fewest])
        for value, by, fewest in zip(values, split.left, split.fewest, strict=True)
    )


def _bounds(cells: int, free: int, fewest: int, narrow: bool | None, shared: tuple[bool, bool]) -> tuple[float, float]:
    """Return the least and the greatest possible bound; `shared` states for each whether many exceed `SHARED`."""
    wide = tails.bound(cells, free, narrow=False, fewest=fewest)
    close = tails.bound(cells, free, narrow=True, fewest=fewest)
    found = (close if narrow is not False else wide), (close if narrow else wide)
    least, most = (min(each, tails.SHARED) if many else each for each, many in zip(found, shared, strict=True))
    return least, most


def _lines(metric: PeerMetric, spread: NumberRange, least: float, most: float) -> tuple[float, float]:
    """Return two limits as logarithms: a GPU is slow below the first, and fine at or above the second."""
    floor = math.log1p(-metric.least)
    return min(floor, -most * spread.high), min(floor, -least * spread.low)


def _held(
    value: NumberRange, left: NumberRange, metric: PeerMetric, spread: NumberRange, least: float, most: float
) -> Compared:
    """Return slow if the value is slow for all possible missing values, fine if it is slow for none, else not tested.

    The bound is between `least` and `most` widths.
    """
    if value is HOLE:
        return Compared(StragglerOutcome.NOT_TESTED, why="not reported")
    low, high = _lines(metric, spread, least, most)
    effect = None if left.middle is None else math.expm1(left.middle)
    limit = math.expm1(low)
    if left.high < low:
        return Compared(StragglerOutcome.SLOW, effect, limit)
    if left.low >= high:
        return Compared(StragglerOutcome.FINE, effect, limit)
    return Compared(StragglerOutcome.NOT_TESTED, effect, limit, "whether it is slow depends on peers without a value")
