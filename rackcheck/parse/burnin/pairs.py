"""Finds slow ends and slow links from the rates between pairs of ends, and schedules these pairs. Pure.

An end is a node, or one NIC of a rail; a link is the connection between the two ends of a pair. In each round of a
schedule, an end is in at most one pair, so that pairs do not disturb each other.

A slow end makes all its pairs slow, while a slow link makes only one pair slow. To distinguish slow ends from slow
links, the rates are split by medians into an overall level, an effect of each end, and a remainder of each link. The
effect of an end is the median over its pairs, so slow partners change it only if they are at least half of its
partners.

A pair whose rate is missing may have any rate; the module `spans` describes how such values are handled.
"""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import median

from rackcheck.parse.burnin.spans import HOLE, NumberRange, scale

FEWEST = 3
"""Minimum number of pairs of an end: with fewer, a slow end cannot be distinguished from slow partners."""

ENDS = 4
"""Minimum number of ends: of only three ends, any two pairs share one, so the slow end cannot be identified."""

SLOW = -0.1
"""Relative difference from the expected rate beyond which an end or a link may count as slow."""

Z_END, Z_LINK = -4.0, -6.0
"""Limits for differences from the expected rate, in standard deviations: for an end, and for a link.

A difference beyond its limit is not due to chance. The limit for a link is stricter than that for an end, because there
are many links and each is measured only once.
"""

LinkEnds = tuple[str, str]
"""Two ends, sorted by name."""


class PairOutcome(StrEnum):
    """The outcome for an end or a link."""

    SLOW = "slow"
    FINE = "fine"
    NOT_TESTED = "not tested"


@dataclass(frozen=True, slots=True)
class PairEffect:
    """The comparison of one end or one link with its expected rate.

    `effect` is the relative difference from the expected rate, and `z` the same difference in standard deviations. The
    expected rate of an end is the level: the rate between two typical ends. The expected rate of a link is the level
    adjusted by the effects of its two ends.
    """

    outcome: PairOutcome
    effect: float | None = None
    z: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Solved:
    """The result of `solve`: the comparison of every end and link, and the rate between two typical ends.

    `level` is the rate between two typical ends, in the unit of the rates; it is None if too many rates are missing.
    """

    level: float | None
    ends: Mapping[str, PairEffect]
    links: Mapping[LinkEnds, PairEffect]


def matchings(ends: Sequence[str], rounds: int, seed: int) -> tuple[tuple[LinkEnds, ...], ...]:
    """Return at most `rounds` rounds of random pairs of ends, without repeating a pair.

    If the number of ends is odd, one end is without a pair in each round. The number of rounds is never larger than
    that of `round_robin`. The result depends on the ends and the seed, not on the order of the ends. Raises ValueError
    if an end is repeated.
    """
    order = sorted(ends)
    rng = random.Random(seed)  # noqa: S311  a schedule, no secret
    rng.shuffle(order)
    schedule = _circle(order)
    return tuple(schedule[n] for n in rng.sample(range(len(schedule)), min(rounds, len(schedule))))


def round_robin(ends: Sequence[str]) -> tuple[tuple[LinkEnds, ...], ...]:
    """Pair every end with every other end once: in n - 1 rounds for n ends, or n rounds if n is odd.

    Raises ValueError if an end is repeated.
    """
    return tuple(_circle(sorted(ends)))


def solve(rates: Mapping[LinkEnds, float | None]) -> Solved:
    """Find the slow ends and links; None, or a number that is not positive and finite, counts as a missing rate.

    Raises ValueError if a pair is in the table in both orders, or an end is paired with itself.
    """
    for one, other in rates:
        if one == other:
            raise ValueError(f"{one} is paired with itself")
        if (other, one) in rates:
            raise ValueError(f"the pair {one} and {other} is listed in both orders")
    logs = {pair: _log(rate) for pair, rate in rates.items()}
    lines: dict[str, list[LinkEnds]] = {}
    for pair in logs:
        for end in pair:
            lines.setdefault(end, []).append(pair)
    known = {end for pair, log in logs.items() if log is not HOLE for end in pair}
    if len(known) < ENDS:
        why = f"{len(known)} ends have a rate: at least {ENDS} are needed to find a slow one"
        missing = PairEffect(PairOutcome.NOT_TESTED, why=why)
        return Solved(None, dict.fromkeys(lines, missing), dict.fromkeys(rates, missing))
    level = _median(logs.values())
    off = {pair: log.less(level) for pair, log in logs.items()}
    effects = {end: _median([off[pair] for pair in line]) for end, line in lines.items()}
    left = {(a, b): log.less(effects[a]).less(effects[b]) for (a, b), log in off.items()}
    noise, spread = scale([*left.values()], min(len(lines), len(left) // 2)), scale([*effects.values()])
    ends = {end: _end(effects[end], len(line), noise, spread) for end, line in lines.items()}
    half = level.middle
    links = {pair: _link(left[pair], noise, logs[pair] is HOLE, [ends[end] for end in pair]) for pair in rates}
    return Solved(None if half is None else math.exp(half), ends, links)


def _log(rate: float | None) -> NumberRange:
    if rate is None or not rate > 0 or math.isinf(rate):
        return HOLE
    return NumberRange(math.log(rate), math.log(rate))


def _median(spans: Iterable[NumberRange]) -> NumberRange:
    both = [*spans]
    return NumberRange(median(span.low for span in both), median(span.high for span in both))


def _end(effect: NumberRange, pairs: int, noise: NumberRange, spread: NumberRange) -> PairEffect:
    if pairs < FEWEST:
        return PairEffect(
            PairOutcome.NOT_TESTED, why=f"it is in {pairs} pairs: at least {FEWEST} are needed to judge it"
        )
    root = math.sqrt(pairs)
    return _judged(effect, NumberRange(max(noise.low / root, spread.low), max(noise.high / root, spread.high)), Z_END)


def _link(left: NumberRange, noise: NumberRange, hole: bool, ends: Sequence[PairEffect]) -> PairEffect:
    if hole:
        return PairEffect(PairOutcome.NOT_TESTED, why="no rate was reported")
    few = [end for end in ends if end.effect is None]
    return replace(few[0], why="an end of this pair could not be judged") if few else _judged(left, noise, Z_LINK)


def _judged(left: NumberRange, by: NumberRange, z: float) -> PairEffect:
    """Return slow if the value is slow whatever the missing values are, fine if it never is, else not tested."""
    half, line = left.middle, math.log1p(SLOW)
    if left.high < line and left.high < z * by.high:
        outcome = PairOutcome.SLOW
    elif left.low >= line or left.low >= z * by.low:
        outcome = PairOutcome.FINE
    else:
        return PairEffect(PairOutcome.NOT_TESTED, why="whether it is slow depends on pairs without a rate")
    if half is None:
        return PairEffect(outcome)
    return PairEffect(outcome, math.expm1(half), half / by.high if by.high > 0 else None)


def _circle(order: Sequence[str]) -> list[tuple[LinkEnds, ...]]:
    """Return the rounds of a round-robin by the circle method; of an odd number of ends, one has no pair in each round.

    Raises ValueError if an end is repeated.
    """
    if len(set(order)) < len(order):
        twice = next(end for end in order if order.count(end) > 1)
        raise ValueError(f"{twice} is listed twice")
    seats: list[str | None] = [*order, *([None] if len(order) % 2 else [])]
    rounds: list[tuple[LinkEnds, ...]] = []
    for _ in range(len(seats) - 1):
        facing = zip(seats[: len(seats) // 2], reversed(seats[len(seats) // 2 :]), strict=True)
        rounds.append(tuple((min(a, b), max(a, b)) for a, b in facing if a is not None and b is not None))
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return rounds
