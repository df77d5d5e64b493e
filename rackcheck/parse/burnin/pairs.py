"""Rates between pairs of ends: a schedule of pairs, and which end or which link is slow by their rates. Pure.

An end is whatever is paired: a node, or one NIC of a rail. Every round pairs each end at most once, so that no end is
shared. A slow end makes all its pairs slow, a slow link one. Medians split the table of pairs into a level, an effect
of each end and a rest of each link, which distinguishes the two. An end's effect is the median of its pairs, so slow
partners change it only where they are half of all; one sweep is enough.

A pair without a value may have any: see `spans`.
"""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import median

from rackcheck.parse.burnin.spans import HOLE, NumberRange, scale

FEWEST = 3
"""Pairs of one end below which it is unknown whether it or its partners are odd."""

ENDS = 4
"""Ends below which it is unknown which are odd: of three ends each pair shares an end with each other."""

SLOW = -0.1
"""An end or a link is slow at this part below the level, or more."""

Z_END, Z_LINK = -4.0, -6.0
"""Number of standard deviations below that rules out chance; a link is one of many, and measured once."""

LinkEnds = tuple[str, str]
"""Two ends, the lesser name first."""


class PairOutcome(StrEnum):
    """The outcome for an end or a link."""

    SLOW = "slow"
    FINE = "fine"
    NOT_TESTED = "not tested"


@dataclass(frozen=True, slots=True)
class PairEffect:
    """An end or a link: `effect` is the part above or below the level, for a link beyond what its ends explain."""

    outcome: PairOutcome
    effect: float | None = None
    z: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Solved:
    """The result for rates of pairs: `level` is the rate between two typical ends, in the unit of the rates."""

    level: float | None
    ends: Mapping[str, PairEffect]
    links: Mapping[LinkEnds, PairEffect]


def matchings(ends: Sequence[str], rounds: int, seed: int) -> tuple[tuple[LinkEnds, ...], ...]:
    """Return random pairings of all ends, one per round, without repeated pairs; of an odd number one end rests.

    Rounds of a round-robin over shuffled ends, so there are at most as many as `round_robin` has. The same ends in any
    order and the same seed give the same pairs. Raises ValueError if an end is repeated.
    """
    order = sorted(ends)
    rng = random.Random(seed)  # noqa: S311  a schedule, no secret
    rng.shuffle(order)
    schedule = _circle(order)
    return tuple(schedule[n] for n in rng.sample(range(len(schedule)), min(rounds, len(schedule))))


def round_robin(ends: Sequence[str]) -> tuple[tuple[LinkEnds, ...], ...]:
    """Pair every end with every other once: one round less than there are ends, or as many if their number is odd.

    Raises ValueError if an end is repeated.
    """
    return tuple(_circle(sorted(ends)))


def solve(rates: Mapping[LinkEnds, float | None]) -> Solved:
    """Find the slow ends and links; None, or a value that is not a positive finite number, is a pair without a rate.

    Raises ValueError if a pair is in the table in both orders, or an end is paired with itself.
    """
    for one, other in rates:
        if one == other:
            raise ValueError(f"{one} is paired with itself")
        if (other, one) in rates:
            raise ValueError(f"the pair {one} and {other} is given in both orders")
    logs = {pair: _log(rate) for pair, rate in rates.items()}
    lines: dict[str, list[LinkEnds]] = {}
    for pair in logs:
        for end in pair:
            lines.setdefault(end, []).append(pair)
    known = {end for pair, log in logs.items() if log is not HOLE for end in pair}
    if len(known) < ENDS:
        why = f"{len(known)} ends tell a rate: under {ENDS} nobody knows which is odd"
        untold = PairEffect(PairOutcome.NOT_TESTED, why=why)
        return Solved(None, dict.fromkeys(lines, untold), dict.fromkeys(rates, untold))
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
            PairOutcome.NOT_TESTED, why=f"it is in {pairs} pairs: under {FEWEST} nobody knows who of them is odd"
        )
    root = math.sqrt(pairs)
    return _judged(effect, NumberRange(max(noise.low / root, spread.low), max(noise.high / root, spread.high)), Z_END)


def _link(left: NumberRange, noise: NumberRange, hole: bool, ends: Sequence[PairEffect]) -> PairEffect:
    if hole:
        return PairEffect(PairOutcome.NOT_TESTED, why="it told no rate")
    few = [end for end in ends if end.effect is None]
    return replace(few[0], why="of an end of it nothing is known") if few else _judged(left, noise, Z_LINK)


def _judged(left: NumberRange, by: NumberRange, z: float) -> PairEffect:
    """Return slow if it is slow for all values of the holes, fine if it is slow for none of them."""
    half, line = left.middle, math.log1p(SLOW)
    if left.high < line and left.high < z * by.high:
        outcome = PairOutcome.SLOW
    elif left.low >= line or left.low >= z * by.low:
        outcome = PairOutcome.FINE
    else:
        return PairEffect(PairOutcome.NOT_TESTED, why="pairs that told nothing could make it either")
    if half is None:
        return PairEffect(outcome)
    return PairEffect(outcome, math.expm1(half), half / by.high if by.high > 0 else None)


def _circle(order: Sequence[str]) -> list[tuple[LinkEnds, ...]]:
    """Pair by the circle method: the first end stays, the others move on by one; an empty seat is a rest."""
    if len(set(order)) < len(order):
        twice = next(end for end in order if order.count(end) > 1)
        raise ValueError(f"{twice} is given twice")
    seats: list[str | None] = [*order, *([None] if len(order) % 2 else [])]
    rounds: list[tuple[LinkEnds, ...]] = []
    for _ in range(len(seats) - 1):
        facing = zip(seats[: len(seats) // 2], reversed(seats[len(seats) // 2 :]), strict=True)
        rounds.append(tuple((min(a, b), max(a, b)) for a, b in facing if a is not None and b is not None))
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return rounds
