"""Predicts the temperature that a GPU will reach, by a first-order fit to the first minute of load. Pure.

At steady power, a part warms as `T(t) = end - (end - start) exp(-t / tau)`. The thermal resistance of a part is `(end -
inlet) / power`; it depends on the heatsink and the air, not on the power. For a given tau, the fit is a straight line
in `exp(-t / tau)`, so only the best tau is searched for.

Sensors report whole degrees, and a fit of rounded numbers looks more exact than it is. The standard deviation of the
errors is therefore taken as no less than the rounding error, and the number of independent samples as no more than the
number of distinct temperatures reported. Samples of the first seconds, in which the chip itself warms quickly on its
heatsink, are left out.

Parts that warm over minutes, such as a chassis, are not visible in the first minute. If such slow parts add 4 degrees
with a time constant of 150 s, the temperature after ten minutes is up to 3 degrees above the prediction
(tests/burnin/test_thermal.py).

A fit is refused if the samples span too little time, the power is not steady, there is no measurable warming, the data
do not determine the final temperature, or the fit is poor.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, pstdev

AHEAD = 600.0
"""Time after the load began, in seconds, for which a temperature is predicted."""

JUMP = 3.0
"""Length of the first part of the load, in seconds, from which no samples are used."""

POINTS = 60
"""Maximum number of equal time intervals into which the samples are divided.

The fit uses the mean of the samples in each interval, so that it is fast.
"""

FARTHEST = 20.0
"""Longest time constant that is tried, as a multiple of the time that the samples span."""

SHORTEST = 25.0
"""Minimum time that the samples must span for a fit, in seconds."""

FEWEST = 20
"""Minimum number of samples for a fit."""

UNSTEADY = 0.05
"""Standard deviation of the power, as a fraction of the mean, above which the power is not steady."""

POOR = 1.5
"""Root mean square error of a fit, in degrees, above which the fit is refused as poor."""

SEEN = 0.6
"""Minimum fraction of the whole warming that the samples must cover; with less, the final temperature is a guess."""

WARMING = 3.0
"""Minimum warming, in degrees, for a measurable time constant."""

ROUNDING = 1 / math.sqrt(12)
"""Standard deviation of the error from rounding to whole degrees."""

WILD = 1e10
"""Upper limit of plausible times in s, temperatures in degrees C and powers in W; higher values are ignored."""

SURE = 1.96
"""Number of standard deviations on each side of the mean that include 95 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class TemperatureSample:
    """One sample: the time `t` in s, the temperature in degrees C, and the power in W if it is reported."""

    t: float
    temp: float
    power: float | None = None


@dataclass(frozen=True, slots=True)
class ThermalFit:
    """A first-order fit of the warming of a part, and what it predicts.

    `end` is the final temperature, and `ahead` the temperature 600 s after the load began, both in degrees C; `tau` is
    the time constant in s. `give` is the possible error of `ahead` in degrees, at 95 % confidence if the warming is of
    first order. `power` is the mean power in W, and `rms` the root mean square error of the fit in degrees.
    `resistance` is the thermal resistance in K/W; None if the inlet temperature was not reported.
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

    `inlet` is the mean temperature of the incoming air during the samples, in degrees C.
    """
    known = sorted((s for s in samples if abs(s.t) < WILD and abs(s.temp) < WILD), key=lambda s: (s.t, s.temp))
    why = _short(known)
    if why:
        return Refused(why)
    power = [(s.t - known[0].t, s.power) for s in known if s.power is not None and 0 < s.power < WILD]
    steady = [watts for t, watts in power if t >= JUMP]  # drivers average over a second
    if len(power) * 2 < len(known) or not steady:
        return Refused(f"power is reported by {len(power)} of {len(known)} samples")
    mean = fmean(steady)
    if pstdev(steady) > UNSTEADY * mean:
        return Refused(f"power is not steady: {mean:.0f} W, standard deviation {pstdev(steady):.0f} W")
    rise = known[-1].temp - known[0].temp
    if rise < WARMING:
        return Refused(f"it warmed by {rise:.1f} degrees: at least {WARMING:g} are needed to fit a curve", longer=True)
    return _fitted(known, mean, inlet)


@dataclass(frozen=True, slots=True)
class _Line:
    """The least-squares fit `end + slope * exp(-t / tau)` for one tau, and its sum of squared errors."""

    tau: float
    end: float
    slope: float
    squares: float

    def at(self, t: float) -> float:
        return self.end + self.slope * math.exp(-t / self.tau)


def _short(known: Sequence[TemperatureSample]) -> str:
    if len(known) < FEWEST:
        return f"{len(known)} samples: at least {FEWEST} are needed"
    span = known[-1].t - known[0].t
    if span < SHORTEST:
        return f"{span:.0f} s of samples: at least {SHORTEST:g} s are needed"
    hole = max(later.t - earlier.t for earlier, later in pairwise(known))
    return f"a gap of {hole:.0f} s in {span:.0f} s of samples" if hole > span / 4 else ""


def _fitted(known: Sequence[TemperatureSample], power: float, inlet: float | None) -> ThermalFit | Refused:
    times, temps = _points(known)
    span = times[-1] - times[0]
    line = _best(times, temps, span)
    rms = math.sqrt(line.squares / len(times))
    if rms > POOR:
        return Refused(f"the fit is poor: root mean square error of {rms:.1f} degrees")
    gone = 1 - math.exp(-span / line.tau)
    unseen = f"its final temperature is not determined: {span:.0f} s of samples cover {gone:.0%} of the warming"
    if line.slope >= 0 or gone < SEEN:
        return Refused(f"{unseen}, {SEEN:.0%} are needed", longer=True)
    value = len({sample.temp for sample in known})
    noise = max(ROUNDING, rms) ** 2 * max(1.0, len(times) / value)
    ends = [_edge(times, temps, line, tau, line.squares + SURE**2 * noise) for tau in (span / 1000, span * FARTHEST)]
    if ends[1] is None:
        return Refused(f"{unseen} by the best fit, but a much slower fit is nearly as good", longer=True)
    ahead = line.at(AHEAD)
    give = max([abs(edge.at(AHEAD) - ahead) for edge in ends if edge is not None])
    give = math.hypot(give, SURE * math.sqrt(noise / len(times)))
    resistance = None if inlet is None or not abs(inlet) < WILD else (line.end - inlet) / power
    return ThermalFit(line.end, line.tau, ahead, give, power, rms, resistance)


def _points(known: Sequence[TemperatureSample]) -> tuple[list[float], list[float]]:
    """Return the mean times and mean temperatures of equal time intervals, without the first seconds of the load."""
    begun, last = known[0].t, known[-1].t
    bins: list[list[TemperatureSample]] = [[] for _ in range(POINTS)]
    for sample in known:
        if sample.t - begun >= JUMP:
            part = (sample.t - begun - JUMP) / (last - begun - JUMP)
            bins[min(POINTS - 1, int(part * POINTS))].append(sample)
    full = [inside for inside in bins if inside]
    return [fmean(s.t for s in inside) - begun for inside in full], [fmean(s.temp for s in inside) for inside in full]


def _best(times: Sequence[float], temps: Sequence[float], span: float) -> _Line:
    """Return the fit with the best tau, found by a coarse grid of log(tau) and then by a golden-section search."""
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
    """Return the fit whose sum of squared errors is `limit`; None if there is none.

    The tau of the returned fit is between the tau of the best fit and the argument `tau`.
    """
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
    """Return the least-squares fit of the temperature to `exp(-t / tau)` for a given tau."""
    falling = [math.exp(-t / tau) for t in times]
    middle, mean = fmean(falling), fmean(temps)
    spread = math.fsum((x - middle) ** 2 for x in falling)
    slope = math.fsum((x - middle) * (y - mean) for x, y in zip(falling, temps, strict=True)) / spread
    end = mean - slope * middle
    return _Line(tau, end, slope, math.fsum((end + slope * x - y) ** 2 for x, y in zip(falling, temps, strict=True)))
