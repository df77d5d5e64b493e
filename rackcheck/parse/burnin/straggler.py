"""Finds GPUs, slots and nodes of a uniform fleet that are slower than their peers. Pure.

Two values of each GPU are judged separately: its work per clock, and its rate at the power cap. *Work per clock* is
nearly the same for all healthy GPUs, so even a small difference matters; each GPU is compared with the whole fleet. The
*rate at the power cap* of a GPU is its work per clock times its clock, which depends on the chip and its cooling. The
rate at the power cap is compared with the rate expected from the GPU's slot and node, and a low rate is weaker evidence
of a fault than low work per clock. A slot that is slow on every node (airflow) and a node whose GPUs are all slow
(inlet air, a power cap) are separate findings, not faults of the GPUs.

The limits of this module are fixed, so a healthy GPU exceeds them now and then, and the results are remarks. The module
`family` decides which differences are findings.

Only GPUs of one model that did the same work may be in one fleet. A fleet that is slow as a whole is not detected here;
the limits of a profile and the theoretical peak rates detect it.

A missing value may have any value: a GPU is slow if it is slow for all possible missing values, fine if it is slow for
none of them, and otherwise not tested. A GPU is therefore neither blamed nor cleared because of a missing value.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rackcheck.parse.burnin.spans import FEWEST, HOLE, CellTable, NumberRange, apart, middle, scale

FLEET = 16
"""Minimum number of GPUs that must report a value, so that its spread over the fleet is meaningful."""


class StragglerOutcome(StrEnum):
    """The outcome of comparing a GPU, a slot or a node with its peers."""

    SLOW = "slow"
    FINE = "fine"
    NOT_TESTED = "not tested"


@dataclass(frozen=True, slots=True)
class Limit:
    """Two limits for the difference of a value from the expected value; a value below both is slow.

    `z` is a difference in robust standard deviations, and `effect` a relative difference.
    """

    z: float
    effect: float


PER_CLOCK = Limit(-4.0, -0.01)
AT_CAP = Limit(-3.0, -0.03)
FAR = Limit(-6.0, -0.06)
"""Limit beyond which chip variation and cooling do not explain a difference."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One GPU's measurements: `rate` in work per second, `clock` in Hz during this work; None if not reported.

    All GPUs of a fleet must do the same work. A value that is not a positive finite number counts as not reported.
    """

    node: str
    slot: str
    rate: float | None
    clock: float | None


@dataclass(frozen=True, slots=True)
class PeerComparison:
    """The comparison of a GPU (`node` and `slot`), a slot (`node` empty) or a node (`slot` empty) with its peers.

    `effect` is the relative difference from the expected value, `z` is this difference in standard deviations; both are
    None if missing values leave them undetermined. `far` is the outcome with the stricter limit `FAR` in place of the
    normal limit. `why` is the reason why the GPU, slot or node was not tested; empty if it was tested.
    """

    node: str
    slot: str
    outcome: StragglerOutcome
    far: StragglerOutcome
    effect: float | None = None
    z: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Fleet:
    """The comparisons of a fleet: GPUs by work per clock and by rate, in the order of the input; slots; nodes."""

    work_per_clock: tuple[PeerComparison, ...]
    rate: tuple[PeerComparison, ...]
    slots: tuple[PeerComparison, ...]
    nodes: tuple[PeerComparison, ...]


def judge(gpus: Iterable[Measured]) -> Fleet:
    """Compare every GPU, slot and node with its peers; the order of the GPUs affects only the order of the result.

    Every expected GPU must be in the input, even if it has no values. Raises ValueError if a GPU is repeated.
    """
    given = list(gpus)
    seen: set[tuple[str, str]] = set()
    for gpu in given:
        if (gpu.node, gpu.slot) in seen:
            raise ValueError(f"{gpu.node} {gpu.slot} is listed twice")
        seen.add((gpu.node, gpu.slot))
    rates = [_log(gpu.rate) for gpu in given]
    clocks = [_log(gpu.clock) for gpu in given]
    pairs = zip(rates, clocks, strict=True)
    per_clock = [HOLE if HOLE in (rate, clock) else rate.less(clock) for rate, clock in pairs]
    return Fleet(_per_clock(given, per_clock), *_at_cap(given, rates))


def _log(value: float | None) -> NumberRange:
    """Return the logarithm of a value as a range; a missing or invalid value becomes HOLE, the infinite range."""
    if value is None or not value > 0 or math.isinf(value):
        return HOLE
    return NumberRange(math.log(value), math.log(value))


def _per_clock(gpus: Sequence[Measured], values: Sequence[NumberRange]) -> tuple[PeerComparison, ...]:
    small = _small(values, "work per clock")
    if small:
        return tuple(_not_measured(gpu.node, gpu.slot, small) for gpu in gpus)
    found = apart(CellTable(values, [0] * len(values), [0] * len(values)), by_row=False)
    return tuple(
        _held(gpu.node, gpu.slot, left, found.scale, PER_CLOCK, "work per clock" if value is HOLE else "")
        for gpu, value, left in zip(gpus, values, found.left, strict=True)
    )


def _at_cap(
    gpus: Sequence[Measured], values: Sequence[NumberRange]
) -> tuple[tuple[PeerComparison, ...], tuple[PeerComparison, ...], tuple[PeerComparison, ...]]:
    slots, nodes = _numbered(gpu.slot for gpu in gpus), _numbered(gpu.node for gpu in gpus)
    small = _small(values, "a rate")
    if small:
        return (
            tuple(_not_measured(gpu.node, gpu.slot, small) for gpu in gpus),
            tuple(_not_measured("", slot, small) for slot in slots),
            tuple(_not_measured(node, "", small) for node in nodes),
        )
    rows, columns = [nodes[gpu.node] for gpu in gpus], [slots[gpu.slot] for gpu in gpus]
    found = apart(CellTable(values, rows, columns), by_row=True)
    rate = tuple(
        _held(gpu.node, gpu.slot, left, found.scale, AT_CAP, "a rate" if value is HOLE else "")
        for gpu, value, left in zip(gpus, values, found.left, strict=True)
    )
    return (
        rate,
        _lines(slots, columns, found.columns, found.scale, node=False),
        _lines(nodes, rows, found.rows, found.scale, node=True),
    )


def _lines(
    names: dict[str, int], numbers: Sequence[int], levels: Sequence[NumberRange], spread: NumberRange, node: bool
) -> tuple[PeerComparison, ...]:
    """Compare the slots, or the nodes, with each other; a slot or node with fewer than three GPUs is not tested.

    There are few slots, and they differ systematically, so a slot is judged only by the uncertainty of its own level. A
    node is judged by the uncertainty of its own level or by the spread between nodes, whichever is larger.
    """
    cells = [0] * len(names)
    for number in numbers:
        cells[number] += 1
    large = [n for n in range(len(names)) if cells[n] >= FEWEST]
    word, of = ("node", "GPUs") if node else ("slot", "nodes")
    rows: list[PeerComparison] = []
    centre = _centre([levels[n] for n in large])
    apart_by = [levels[n].less(centre) for n in large]
    wide = scale(apart_by, 1) if node and large else None
    for name, n in names.items():
        place = (name, "") if node else ("", name)
        if cells[n] < FEWEST:
            rows.append(
                _not_measured(*place, f"it has {cells[n]} {of}: at least {FEWEST} are needed to judge the {word}")
            )
        elif len(large) < FEWEST:
            rows.append(
                _not_measured(*place, f"{len(large)} {word}s to compare: at least {FEWEST} needed to find a slow one")
            )
        else:
            own = NumberRange(spread.low / math.sqrt(cells[n]), spread.high / math.sqrt(cells[n]))
            by = own if wide is None else NumberRange(max(own.low, wide.low), max(own.high, wide.high))
            rows.append(_held(*place, levels[n].less(centre), by, AT_CAP, ""))
    return tuple(rows)


def _centre(levels: Sequence[NumberRange]) -> NumberRange:
    if not levels:
        return HOLE
    return NumberRange(middle([level.low for level in levels]), middle([level.high for level in levels]))


def _held(node: str, slot: str, left: NumberRange, spread: NumberRange, limit: Limit, missing: str) -> PeerComparison:
    if missing:
        return _not_measured(node, slot, f"{missing} is not reported")
    outcome, far = _outcome(left, spread, limit), _outcome(left, spread, FAR)
    half, wide = left.middle, spread.middle
    effect = None if half is None else math.expm1(half)
    z = None if half is None or wide is None else half / spread.high
    why = "whether it is slow depends on peers without a value" if outcome is StragglerOutcome.NOT_TESTED else ""
    return PeerComparison(node, slot, outcome, far, effect, z, why)


def _outcome(left: NumberRange, spread: NumberRange, limit: Limit) -> StragglerOutcome:
    """Return slow if the value is slow for all possible missing values, fine if for none, else not tested."""
    line = math.log1p(limit.effect)
    if left.high < line and left.high < limit.z * spread.high:
        return StragglerOutcome.SLOW
    if left.low >= line or left.low >= limit.z * spread.low:
        return StragglerOutcome.FINE
    return StragglerOutcome.NOT_TESTED


def _not_measured(node: str, slot: str, why: str) -> PeerComparison:
    return PeerComparison(node, slot, StragglerOutcome.NOT_TESTED, StragglerOutcome.NOT_TESTED, why=why)


def _small(values: Sequence[NumberRange], what: str) -> str:
    """Return why too few GPUs report a value for a meaningful spread; empty if there are enough."""
    known = sum(value is not HOLE for value in values)
    return "" if known >= FLEET else f"{known} GPUs report {what}: at least {FLEET} are needed to estimate the spread"


def _numbered(names: Iterable[str]) -> dict[str, int]:
    """Return a number for each distinct name, in the order in which the names first occur."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}
