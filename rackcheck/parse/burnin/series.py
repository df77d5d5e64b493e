"""The curves of a burn-in: samples of each part over time, thinned so that a spike of one sample survives. Pure.

Times are in seconds since the load of the node began, so that the curves of nodes that began at different times align.
The numbers of curves, points and time spans are limited, because a node may report any number of parts at any rate.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from statistics import fmean, median

from rackcheck.model.burn_record import Burn, Stage
from rackcheck.model.text import natural

MOST = 300
"""Maximum number of points of one curve."""

THINGS = 64
"""Maximum number of parts of one kind, such as GPUs, whose curves are kept for a node: the first ones by name."""

BANDS = 64
"""Maximum number of time spans of stages that are kept for a node's GPUs, and likewise for its processors."""

PAUSE = 1.0
"""Longest pause, in seconds, between two runs of one stage that are still merged into one time span."""

WILD = 1e8
"""Upper limit of plausible times (s), degrees C, W, MHz and revolutions per minute; a sample beyond it is dropped."""

BINS = 100
"""Maximum number of points of each curve of an envelope (lowest, median and highest)."""

HERTZ = 1e-6
"""Factor from Hz to MHz, the unit in which clocks are plotted."""

SeriesPoints = tuple[tuple[float, float], ...]

COLUMNS: Mapping[str, tuple[tuple[str, float], ...]] = {
    "gpu": (("power", 1.0), ("temp", 1.0), ("clock", HERTZ)),
    "node": (("temp", 1.0), ("clock", HERTZ), ("load", 1.0)),
    "bmc": (("inlet", 1.0), ("power", 1.0)),
}
"""The values that are plotted for each kind of part, each with the factor that converts it to the plotted unit."""

FAN = "fan "


@dataclass(frozen=True, slots=True)
class Series:
    """One curve: `of` is a part such as `gpu/3`, `column` is a value such as `power` or `fan NAME`.

    `points` are (seconds, value) in order of time.
    """

    of: str
    column: str
    points: SeriesPoints


@dataclass(frozen=True, slots=True)
class Band:
    """The time span of one stage on a node, from `begin` to `end` in seconds; `side` is `gpu` or `cpu`."""

    side: str
    stage: str
    begin: float
    end: float


def began(burn: Burn) -> float:
    """Return the start of the load in seconds on the node's clock: the earliest start of a stage, or 0 if unknown."""
    return min((begin for stage in burn.stages if (begin := stage.number("from")) is not None), default=0.0)


def series(burn: Burn, most: int = MOST) -> Iterator[Series]:
    """Yield every curve of a node that has at least one point, ordered by the names of the parts."""
    zero = began(burn)
    for kind, columns in COLUMNS.items():
        things = sorted((of for of in burn.samples if of.partition("/")[0] == kind), key=natural)
        for of in things[:THINGS]:
            names = [*columns, *((name, 1.0) for name in _fans(burn, of))] if kind == "bmc" else columns
            for name, factor in names:
                points = thin(_points(burn, of, name, factor, zero), most)
                if points:
                    yield Series(of, name, points)


def thin(points: Sequence[tuple[float, float]], most: int = MOST) -> SeriesPoints:
    """Return at most `most` points of a curve; `most` must be at least 4.

    The first and the last point of the curve are kept, and the lowest and the highest point of each interval in
    between.
    """
    if len(points) <= most:
        return tuple(points)
    inner = points[1:-1]
    stretches = (most - 2) // 2
    kept = [0]
    for n in range(stretches):
        begin, end = n * len(inner) // stretches, (n + 1) * len(inner) // stretches
        low = min(range(begin, end), key=lambda i: inner[i][1])
        high = max(range(begin, end), key=lambda i: inner[i][1])
        kept += sorted({low + 1, high + 1})
    return tuple(points[i] for i in (*kept, len(points) - 1))


def bands(burn: Burn) -> tuple[Band, ...]:
    """Return the time spans in which the stages ran; two runs of one stage with a short pause between them are merged.

    The GPUs of a node start one after the other, so the spans of successive stages overlap. Each time span therefore
    ends at the latest where the next one begins.
    """
    zero = began(burn)
    found: list[Band] = []
    for side in ("gpu", "cpu"):
        spans: dict[str, list[tuple[float, float]]] = {}
        for stage in burn.stages:
            begin = stage.number("from")
            if stage.done and begin is not None and _side(stage) == side and stage.t - zero < WILD:
                spans.setdefault(stage.stage, []).append((begin - zero, stage.t - zero))
        merged = [Band(side, name, *span) for name, rows in spans.items() for span in _merged(rows)]
        merged.sort(key=lambda band: (band.begin, band.end))
        ends = [*(later.begin for later in merged[1:]), math.inf]
        found += [replace(band, end=min(band.end, end)) for band, end in zip(merged, ends, strict=False)][:BANDS]
    return tuple(found)


def envelope(curves: Sequence[SeriesPoints], bins: int = BINS) -> tuple[SeriesPoints, SeriesPoints, SeriesPoints]:
    """Return the lowest, the median and the highest of many curves over time; three empty curves if there are none."""
    times = [t for points in curves for t, _ in points]
    if not times:
        return (), (), ()
    begin = min(times)
    wide = (max(times) - begin) / bins or 1.0
    held: list[list[list[float]]] = [[] for _ in range(bins)]
    for points in curves:
        own: dict[int, list[float]] = {}
        for t, value in points:
            own.setdefault(min(bins - 1, int((t - begin) / wide)), []).append(value)
        for n, values in own.items():
            held[n].append(values)
    at = [(begin + (n + 0.5) * wide, inside) for n, inside in enumerate(held) if inside]
    return (
        tuple((t, min(map(min, inside))) for t, inside in at),
        tuple((t, median(map(fmean, inside))) for t, inside in at),
        tuple((t, max(map(max, inside))) for t, inside in at),
    )


def _points(burn: Burn, of: str, name: str, factor: float, zero: float) -> list[tuple[float, float]]:
    rows = ((row.t - zero, row.number(name)) for row in burn.samples[of])
    found = [(t, value * factor) for t, value in rows if value is not None]
    kept = [(t, value) for t, value in found if abs(t) < WILD and abs(value) < WILD]
    # Samples are normally in the order of time; if a node reports them in another order, a curve would run backwards.
    return kept if all(a[0] <= b[0] for a, b in pairwise(kept)) else sorted(kept)


def _fans(burn: Burn, of: str) -> list[str]:
    names = {name for row in islice(burn.samples[of], 64) for name in row.numbers if name.startswith(FAN)}
    return sorted(names, key=natural)[:THINGS]


def _side(stage: Stage) -> str:
    return "gpu" if stage.kind in {"gpu", "peer"} else "cpu"


def _merged(spans: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    ordered = sorted(span for span in spans if span[0] <= span[1])
    if not ordered:
        return
    begin, end = ordered[0]
    for later, until in ordered[1:]:
        if later > end + PAUSE:
            yield begin, end
            begin, end = later, until
        end = max(end, until)
    yield begin, end
