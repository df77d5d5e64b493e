"""The temperature a GPU will reach, from the first minute of load: a first-order fit. Pure.

Under a steady power a part warms as `T(t) = end - (end - start) exp(-t / tau)`, and its thermal resistance is `(end -
inlet) / power`: the effect of its heatsink and the air, whatever the power. The fit is a straight line in `exp(-t /
tau)` for each tau, so the best tau is a search in one dimension. Sensors report whole degrees, and a fit of rounded
numbers looks more exact than it is: no spread is taken as less than the rounding's, and no more samples as independent
than degrees were reported. The first seconds, in which the chip itself jumps on its heatsink, are left out.

What warms over minutes, as a chassis does, does not show in one: where 4 degrees come with a time constant of 150 s,
the temperature after ten minutes is up to 3 degrees above what the first minute lets expect
(tests/burnin/test_thermal.py).

A fit is refused if it would be a guess: too short, power not steady, no measurable warming, an end that the data do not
determine, a poor fit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, pstdev

AHEAD = 600.0
"""Seconds after the load began for which a temperature is predicted."""

JUMP = 3.0
"""Seconds at the beginning that are left out."""

POINTS = 60
"""Means of equal times that replace the samples: as many as a fit needs, so that a hall of GPUs is fitted soon."""

FARTHEST = 20.0
"""Longest time constant that is tried, in lengths of the samples."""

SHORTEST = 25.0
"""Seconds of samples below which nothing is fitted."""

FEWEST = 20
"""Samples below which nothing is fitted."""

UNSTEADY = 0.05
"""Standard deviation of the power, as a part of it, above which it was not one step."""

POOR = 1.5
"""Root mean square in degrees between the fit and the samples above which it is not of this shape."""

SEEN = 0.6
"""Part of the way to its end that a temperature must have gone in the samples: farther ends are a guess."""

WARMING = 3.0
"""Degrees that it must have warmed for a time constant to be measurable."""

ROUNDING = 1 / math.sqrt(12)
"""Standard deviation of the error from rounding to whole degrees."""

WILD = 1e10
"""Limit of seconds, degrees and watts of a plausible sample."""

SURE = 1.96
"""Standard deviations to each side that hold 95 %."""


@dataclass(frozen=True, slots=True)
class TemperatureSample:
    """One sample: seconds, degrees C, and watts if reported."""

    t: float
    temp: float
    power: float | None = None


@dataclass(frozen=True, slots=True)
class ThermalFit:
    """A first-order fit: `end` and `ahead` (at 600 s) in degrees C, `tau` in s, mean `power` in W, `rms` in degrees.

    `give` is how far `ahead` may be off, with 95 % certainty if the part is of first order. `resistance` is in K/W,
    None if the inlet's temperature was not reported.
    """

    end: float
    tau: float
    ahead: float
    give: float
    power: float
    rms: float
    resistance: float | None


@dataclass(frozen=True, slots=True)
class Refused:
    """Why there is no fit, and whether a longer load of the same kind may allow one."""

    why: str
    longer: bool = False


def fit(samples: Sequence[TemperatureSample], inlet: float | None = None) -> ThermalFit | Refused:
    """Fit the samples of one steady load from its beginning; if that is not possible, return the reason.

    `inlet` is the mean temperature of the incoming air, in degrees C, over the same time.
    """
    known = sorted((s for s in samples if abs(s.t) < WILD and abs(s.temp) < WILD), key=lambda s: (s.t, s.temp))
    why = _short(known)
    if why:
        return Refused(why)
    power = [(s.t - known[0].t, s.power) for s in known if s.power is not None and 0 < s.power < WILD]
    steady = [watts for t, watts in power if t >= JUMP]  # drivers average over a second
    if len(power) * 2 < len(known) or not steady:
        return Refused(f"power is told by {len(power)} of {len(known)} samples")
    mean = fmean(steady)
    if pstdev(steady) > UNSTEADY * mean:
        return Refused(f"power is not steady: {mean:.0f} W, give or take {pstdev(steady):.0f} W")
    rise = known[-1].temp - known[0].temp
    if rise < WARMING:
        return Refused(f"it warmed by {rise:.1f} degrees: under {WARMING:g} no time constant is seen", longer=True)
    return _fitted(known, mean, inlet)


@dataclass(frozen=True, slots=True)
class _Line:
    """The best `end + slope * exp(-t / tau)` for one tau, and its sum of squares."""

    tau: float
    end: float
    slope: float
    squares: float

    def at(self, t: float) -> float:
        return self.end + self.slope * math.exp(-t / self.tau)


def _short(known: Sequence[TemperatureSample]) -> str:
    if len(known) < FEWEST:
        return f"{len(known)} samples: under {FEWEST} nothing is fitted"
    span = known[-1].t - known[0].t
    if span < SHORTEST:
        return f"{span:.0f} s of samples: under {SHORTEST:g} s nothing is fitted"
    hole = max(later.t - earlier.t for earlier, later in pairwise(known))
    return f"a hole of {hole:.0f} s in {span:.0f} s of samples" if hole > span / 4 else ""


def _fitted(known: Sequence[TemperatureSample], power: float, inlet: float | None) -> ThermalFit | Refused:
    times, temps = _points(known)
    span = times[-1] - times[0]
    line = _best(times, temps, span)
    rms = math.sqrt(line.squares / len(times))
    if rms > POOR:
        return Refused(f"the fit is poor: {rms:.1f} degrees off in the root mean square")
    gone = 1 - math.exp(-span / line.tau)
    unseen = f"its end is not in sight: it went {gone:.0%} of the way in {span:.0f} s"
    if line.slope >= 0 or gone < SEEN:
        return Refused(f"{unseen}, and {SEEN:.0%} are asked for", longer=True)
    value = len({sample.temp for sample in known})
    noise = max(ROUNDING, rms) ** 2 * max(1.0, len(times) / value)
    ends = [_edge(times, temps, line, tau, line.squares + SURE**2 * noise) for tau in (span / 1000, span * FARTHEST)]
    if ends[1] is None:
        return Refused(f"{unseen}, by the best fit alone; a much slower one is nearly as good", longer=True)
    ahead = line.at(AHEAD)
    give = max([abs(edge.at(AHEAD) - ahead) for edge in ends if edge is not None])
    give = math.hypot(give, SURE * math.sqrt(noise / len(times)))
    resistance = None if inlet is None or not abs(inlet) < WILD else (line.end - inlet) / power
    return ThermalFit(line.end, line.tau, ahead, give, power, rms, resistance)


def _points(known: Sequence[TemperatureSample]) -> tuple[list[float], list[float]]:
    """Return the means of equal times, from the load's beginning on."""
    begun, last = known[0].t, known[-1].t
    bins: list[list[TemperatureSample]] = [[] for _ in range(POINTS)]
    for sample in known:
        if sample.t - begun >= JUMP:
            part = (sample.t - begun - JUMP) / (last - begun - JUMP)
            bins[min(POINTS - 1, int(part * POINTS))].append(sample)
    full = [inside for inside in bins if inside]
    return [fmean(s.t for s in inside) - begun for inside in full], [fmean(s.temp for s in inside) for inside in full]


def _best(times: Sequence[float], temps: Sequence[float], span: float) -> _Line:
    """Return the line of the best tau: the best of a coarse ladder, then a golden section around it, in logarithms."""
    rungs = 24
    step = math.log(FARTHEST * 100) / rungs
    ladder = [math.log(span / 100) + n * step for n in range(rungs + 1)]
    best = min(ladder, key=lambda rung: _line(times, temps, math.exp(rung)).squares)
    low, high, ratio = best - step, best + step, (math.sqrt(5) - 1) / 2
    for _ in range(20):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if _line(times, temps, math.exp(left)).squares < _line(times, temps, math.exp(right)).squares:
            high = right
        else:
            low = left
    return _line(times, temps, math.exp((low + high) / 2))


def _edge(times: Sequence[float], temps: Sequence[float], best: _Line, tau: float, limit: float) -> _Line | None:
    """Return the line between the best tau and another where the squares reach the limit; None if they do not."""
    if _line(times, temps, tau).squares <= limit:
        return None
    near, far = math.log(best.tau), math.log(tau)
    for _ in range(20):
        half = (near + far) / 2
        if _line(times, temps, math.exp(half)).squares <= limit:
            near = half
        else:
            far = half
    return _line(times, temps, math.exp(far))


def _line(times: Sequence[float], temps: Sequence[float], tau: float) -> _Line:
    """Return the least squares of the temperature on `exp(-t / tau)`."""
    falling = [math.exp(-t / tau) for t in times]
    middle, mean = fmean(falling), fmean(temps)
    spread = math.fsum((x - middle) ** 2 for x in falling)
    slope = math.fsum((x - middle) * (y - mean) for x, y in zip(falling, temps, strict=True)) / spread
    end = mean - slope * middle
    return _Line(tau, end, slope, math.fsum((end + slope * x - y) ** 2 for x, y in zip(falling, temps, strict=True)))
