"""Comparison of the GPUs of one model: work per clock, rate at the power cap, warming, and results."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rackcheck import Absent, Class, Member, Reason, Sourced, Unknown, comparison, quantity, spell_key, text
from rackcheck.model.fact import Reading
from rackcheck.parse.burnin import votes
from rackcheck.parse.burnin.family import Compared, PeerMetric, compare
from rackcheck.parse.burnin.straggler import FLEET, Measured, PeerComparison, StragglerOutcome, judge
from rackcheck.probe.compare import ItemFacts

SLOW, HOT = ("fine", "slow"), ("fine", "hot")
MEASURED = Class.MEASUREMENT

EVIDENCE = ("memory.copy", "memory.verify", "link.h2d", "link.d2h")
"""Measurements whose spread shows how often healthy GPUs of this fleet are far from their peers."""

NEEDS = ("model", "limit_default", "tensor.rate", "tensor.clock", "tensor.rise", *EVIDENCE, "results")

APART = 0.05
"""Maximum share by which a GPU's work per clock may be below the upper quartile of the GPUs of its model."""

NO_LIMIT = "its default power limit is not reported, so it is not known with which GPUs it can be compared"

GpuKey = tuple[str, str]
"""Identifies a GPU: the name of its node, and the GPU's index on this node."""

GpuFacts = Mapping[GpuKey, Mapping[str, Reading]]


@dataclass(frozen=True, slots=True)
class _Judged:
    """How a metric becomes facts: `value` computes the metric from a GPU's facts; a larger value is better.

    `fact` is the name of the fact with the outcome: `word` if the GPU is bad, else `fine`. `effect` is the name of the
    fact with the deviation. `what` names the metric in messages. If the fact `own` of a GPU is unknown, so are these
    facts. The other fields are those of `PeerMetric`.
    """

    fact: str
    effect: str
    what: str
    own: str
    value: Callable[[Mapping[str, Reading]], float | None]
    least: float
    placed: bool = True
    typical: float = 0.02
    evidence: bool = True
    exact: bool = False
    word: str = "slow"


@comparison(
    needs=("burnin.gpu", *(f"burnin.gpu/*.{need}" for need in NEEDS)),
    gives={
        "burnin.gpu/*.among.work": text("Work per clock, compared with all GPUs of its model", MEASURED, SLOW),
        "burnin.gpu/*.among.work_effect": quantity(
            "%", "Deviation from the work per clock of the GPU's peers", MEASURED
        ),
        "burnin.gpu/*.among.work_best": text(
            "Work per clock, compared with the better GPUs of its model", MEASURED, SLOW
        ),
        "burnin.gpu/*.among.rate": text("Rate, compared with the value expected for its node and slot", MEASURED, SLOW),
        "burnin.gpu/*.among.rate_far": text(
            "Rate, compared with a limit so wide that random variation alone does not exceed it", MEASURED, SLOW
        ),
        "burnin.gpu/*.among.rate_effect": quantity("%", "Deviation from the expected rate", MEASURED),
        "burnin.gpu/*.among.heat": text(
            "Warming per watt, compared with the value expected for its node and slot", MEASURED, HOT
        ),
        "burnin.gpu/*.among.heat_effect": quantity("%", "Deviation from the expected warming", MEASURED),
        "burnin.gpu/*.among.result": text(
            "Results, compared with all GPUs that did the same work", MEASURED, ("agrees", "odd", "disputed")
        ),
    },
)
def burnin_among(members: Sequence[Member]) -> ItemFacts:
    """Compare every GPU with the other GPUs of its model."""
    models: dict[str, list[GpuKey]] = defaultdict(list)
    facts: dict[GpuKey, dict[str, Reading]] = {}
    silent: list[str] = []
    for member in members:
        names, why = member.items("burnin.gpu")
        if why is not None:
            silent.append(member.seat.name)
        for name in names:
            gpu = (member.seat.name, name)
            at = f"burnin.gpu/{spell_key(name)}"
            facts[gpu] = {need: member.reading(f"{at}.{need}") for need in NEEDS}
            model = facts[gpu]["model"]
            models[model if isinstance(model, str) else ""].append(gpu)
    for model, gpus in models.items():
        holes = _holes(gpus, silent)
        if not model:
            yield from _nothing(gpus, Unknown(Reason.NOT_TESTED, "no model is reported"))
            continue
        yield from _results(gpus, facts, alone=len(gpus) < 2 and not silent)
        yield from _best(gpus, len(holes), facts)
        bins, unknown = _bins(gpus, facts) if len(gpus) > 1 or holes else ([gpus], [])
        for alike in bins:
            yield from _rates(alike, [*holes, *unknown], facts)
            yield from _family(alike, [*holes, *unknown], facts)
        yield from _nothing(unknown, Unknown(Reason.NOT_TESTED, NO_LIMIT))


def _bins(gpus: Sequence[GpuKey], facts: GpuFacts) -> tuple[list[list[GpuKey]], list[GpuKey]]:
    """Split the GPUs of a model into bins by default power limit; return also the GPUs whose limit is not known.

    These could belong to any bin, so they are not judged, and count as GPUs without a value in each bin.
    """
    limits = {gpu: _number(facts[gpu]["limit_default"]) for gpu in gpus}
    known = sorted({limit for limit in limits.values() if limit is not None})
    unknown = [gpu for gpu in gpus if limits[gpu] is None]
    return [[gpu for gpu in gpus if limits[gpu] == limit] for limit in known], unknown


def _holes(gpus: Sequence[GpuKey], silent: Sequence[str]) -> list[GpuKey]:
    """Return placeholders for the GPUs of `silent` nodes: for each node, as many as the largest count of any node."""
    counts: dict[str, int] = defaultdict(int)
    for node, _ in gpus:
        counts[node] += 1
    return [(node, str(index)) for node in silent for index in range(max(counts.values(), default=0))]


def _rates(gpus: Sequence[GpuKey], holes: Sequence[GpuKey], facts: GpuFacts) -> ItemFacts:
    """Yield the outcome of each GPU's rate; it is a remark, because a healthy GPU may be slower by chance."""
    if len(gpus) < FLEET and not holes:
        few = Absent(f"{len(gpus)} GPUs of this model; the minimum for a comparison is {FLEET}")
        yield from (_fact(gpu, "rate", few) for gpu in gpus)
        return
    measured = [Measured(*gpu, _number(facts[gpu]["tensor.rate"]), None) for gpu in gpus]
    fleet = judge([*measured, *(Measured(*gpu, None, None) for gpu in holes)])
    for gpu, rate in zip(gpus, fleet.rate, strict=False):
        own = facts[gpu]["tensor.rate"]
        if isinstance(own, Unknown):
            yield _fact(gpu, "rate", own)
        else:
            yield _fact(gpu, "rate", Sourced(_word(rate, rate.outcome, "slow"), _beside(gpus, rate, "rate")))


def _family(gpus: Sequence[GpuKey], holes: Sequence[GpuKey], facts: GpuFacts) -> ItemFacts:
    """Compare GPUs of one model and default power limit in every metric; a finding by chance is improbable."""
    if len(gpus) < 2 and not holes:
        for gpu in gpus:
            for name in (name for each in JUDGED for name in (each.fact, each.effect)):
                yield _fact(gpu, name, Absent("the only GPU of its model and default power limit"))
        return
    blank = [None] * len(holes)
    metrics = {
        each.fact: PeerMetric(
            [*(each.value(facts[gpu]) for gpu in gpus), *blank],
            each.least,
            each.placed,
            each.typical,
            each.evidence,
            each.exact,
        )
        for each in JUDGED
    }
    for name in EVIDENCE:
        if not all(isinstance(facts[gpu][name], Absent) for gpu in gpus):
            metrics[name] = PeerMetric([*(_number(facts[gpu][name]) for gpu in gpus), *blank], 0.5)
    found = compare([*gpus, *holes], metrics)
    for each in JUDGED:
        for gpu, held in zip(gpus, found[each.fact], strict=False):
            yield from _compared(gpu, each, held, gpus, facts)


def _compared(gpu: GpuKey, each: _Judged, held: Compared, gpus: Sequence[GpuKey], facts: GpuFacts) -> ItemFacts:
    own = facts[gpu][each.own]
    if isinstance(own, Unknown):
        yield _fact(gpu, each.fact, own)
        yield _fact(gpu, each.effect, own)
        return
    effect, limit = (_turned(part, each.word) for part in (held.effect, held.limit))
    missing = Unknown(Reason.NOT_TESTED, _why(held, each))
    message = f"{each.what} against {_peers(gpus)}"
    if effect is not None and limit is not None:
        message += f": {effect:+.1f} %, limit {limit:+.1f} %"
    bad: Reading = each.word if held.outcome is StragglerOutcome.SLOW else "fine"
    yield _fact(gpu, each.fact, Sourced(missing if held.outcome is StragglerOutcome.NOT_TESTED else bad, message))
    yield _fact(gpu, each.effect, effect if effect is not None else missing)


def _why(held: Compared, each: _Judged) -> str:
    if held.why == "not reported":
        return f"{each.what} is not reported"
    return held.why or "too few GPUs of its model have measurements to compare with"


def _turned(part: float | None, word: str) -> float | None:
    """Return a relative difference in percent; for `hot`, convert that of the reciprocal to that of the warming."""
    if part is None:
        return None
    return part * 100 if word == "slow" else (1 / (1 + part) - 1) * 100


def _best(gpus: Sequence[GpuKey], holes: int, facts: GpuFacts) -> ItemFacts:
    """Compare each GPU's work per clock with the upper quartile of the GPUs of its model.

    A GPU without measurements could have any rank, so another GPU gets a result only if all these ranks lead to the
    same result.
    """
    values = {gpu: _per_clock(facts[gpu]) for gpu in gpus}
    known = sorted(value for value in values.values() if value is not None)
    silent = len(gpus) - len(known) + holes
    at = round(0.75 * (len(known) + silent - 1))
    least = known[at - silent] if at >= silent and known else 0.0
    most = known[at] if at < len(known) else math.inf
    for gpu, value in values.items():
        own = facts[gpu]["tensor.rate"]
        if value is None:
            why = (
                own
                if isinstance(own, Unknown)
                else Unknown(Reason.NOT_TESTED, "the GPU's rate or clock was not measured")
            )
            yield _fact(gpu, "work_best", why)
        elif value < least * (1 - APART):
            message = f"work per clock: {(1 - value / least) * 100:.1f} % below the upper quartile of {len(gpus)} GPUs"
            message += f", limit {APART * 100:.0f} %"
            yield _fact(gpu, "work_best", Sourced("slow", message))
        elif value >= most * (1 - APART):
            yield _fact(gpu, "work_best", "fine")
        else:
            yield _fact(
                gpu, "work_best", Unknown(Reason.NOT_TESTED, f"up to {silent} GPUs of its model have no measurement")
            )


def _per_clock(facts: Mapping[str, Reading]) -> float | None:
    rate, clock = _number(facts["tensor.rate"]), _number(facts["tensor.clock"])
    return rate / clock if rate is not None and clock else None


def _cool(facts: Mapping[str, Reading]) -> float | None:
    """Return the reciprocal of the warming per watt: less warming is better."""
    rise = _number(facts["tensor.rise"])
    return 1 / rise if rise else None


def _results(gpus: Sequence[GpuKey], facts: GpuFacts, *, alone: bool) -> ItemFacts:
    """Compare the results of each piece of work that several GPUs of a model did; a GPU's worst outcome counts."""
    values: dict[GpuKey, list[votes.VoteOutcome]] = {gpu: [] for gpu in gpus}
    results = {gpu: _results_of(facts[gpu]["results"]) for gpu in gpus}
    for work in sorted({work for reading in results.values() for work in reading}):
        who = [gpu for gpu in gpus if work in results[gpu]]
        if len(who) > 1:
            counted = votes.count({gpu: results[gpu][work] for gpu in who})
            for gpu in who:
                values[gpu].append(counted.outcomes[gpu])
    for gpu in gpus:
        reading = facts[gpu]["results"]
        if votes.VoteOutcome.ODD in values[gpu]:
            word: Reading = "odd"
        elif votes.VoteOutcome.DISPUTED in values[gpu]:
            word = "disputed"
        elif votes.VoteOutcome.AGREES in values[gpu]:
            word = "agrees"
        elif alone:
            word = Absent("the only GPU of its model")
        else:
            word = (
                reading
                if isinstance(reading, Unknown)
                else Unknown(Reason.NOT_TESTED, "no other GPU of its model did the same work")
            )
        yield _fact(gpu, "result", word)


def _results_of(reading: Reading) -> dict[str, str]:
    """Map each piece of work to its result: `mma 17=0f3a…` maps `mma 17` to `0f3a…`."""
    found = reading if isinstance(reading, tuple) else ()
    return {work: word for work, _, word in (each.rpartition("=") for each in found)}


def _beside(gpus: Sequence[GpuKey], held: PeerComparison, what: str) -> str:
    """Describe a comparison for the report: the number of peers, and how far the GPU deviates from its peers."""
    far = "" if held.effect is None or held.z is None else f": {held.effect * 100:+.1f} %, {held.z:+.1f} deviations"
    return f"{what} against {_peers(gpus)}{far}"


def _peers(gpus: Sequence[GpuKey]) -> str:
    nodes = len({node for node, _ in gpus})
    return f"{len(gpus) - 1} GPUs of its model on {nodes} {'node' if nodes == 1 else 'nodes'}"


def _word(held: PeerComparison, outcome: StragglerOutcome, word: str) -> Reading:
    if outcome is StragglerOutcome.NOT_TESTED:
        return _missing(held)
    return word if outcome is StragglerOutcome.SLOW else "fine"


def _missing(held: PeerComparison) -> Unknown:
    return Unknown(Reason.NOT_TESTED, held.why or "too few GPUs of its model have measurements to compare with")


def _nothing(gpus: Sequence[GpuKey], why: Reading) -> ItemFacts:
    for gpu in gpus:
        for name in ("rate", *(name for each in JUDGED for name in (each.fact, each.effect))):
            yield _fact(gpu, name, why)


def _fact(gpu: GpuKey, name: str, reading: Reading | Sourced) -> tuple[str, str, Reading | Sourced]:
    return gpu[0], f"burnin.gpu/{spell_key(gpu[1])}.among.{name}", reading


def _number(reading: Reading) -> float | None:
    known = isinstance(reading, int | float) and not isinstance(reading, bool) and math.isfinite(reading)
    return float(reading) if known and isinstance(reading, int | float) else None


JUDGED = (
    _Judged("work", "work_effect", "work per clock", "tensor.rate", _per_clock, 0.01, False, 0.006, exact=True),
    _Judged("rate_far", "rate_effect", "rate", "tensor.rate", lambda facts: _number(facts["tensor.rate"]), 0.06),
    _Judged(
        "heat", "heat_effect", "warming per watt", "tensor.rise", _cool, 0.06, typical=0.05, evidence=False, word="hot"
    ),
)
"""The metrics that become facts. The warming is not evidence of tails, because a short load does not measure it."""
