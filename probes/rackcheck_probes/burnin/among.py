"""Comparison of the GPUs of one model: work per clock, rate at the power cap, warming, and results."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from rackcheck import Absent, Class, Member, Reason, Sourced, Unknown, comparison, quantity, spell_key, text
from rackcheck.model.fact import Reading
from rackcheck.parse.burnin import votes
from rackcheck.parse.burnin.straggler import FLEET, Measured, PeerComparison, StragglerOutcome, judge
from rackcheck.probe.compare import ItemFacts

SLOW, HOT = ("fine", "slow"), ("fine", "hot")
MEASURED = Class.MEASUREMENT

NEEDS = ("model", "tensor.rate", "tensor.clock", "tensor.rise", "results")

APART = 0.05
"""Maximum share by which a GPU's work per clock may be below the upper quartile of the GPUs of its model."""

GpuKey = tuple[str, str]
"""Identifies a GPU: the name of its node, and the GPU's index on this node."""


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
            "Rate, compared with a wider limit that random variation alone does not exceed", MEASURED, SLOW
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
        if len(gpus) < FLEET and not silent:
            few = f"{len(gpus)} GPUs of this model; the minimum for a comparison is {FLEET}"
            yield from _nothing(gpus, Absent(few))
            continue
        yield from _rates(gpus, holes, facts)
        yield from _heat(gpus, holes, facts)


def _holes(gpus: Sequence[GpuKey], silent: Sequence[str]) -> list[GpuKey]:
    """Return placeholders for the GPUs of `silent` nodes: for each node, as many as the largest count of any node."""
    counts: dict[str, int] = defaultdict(int)
    for node, _ in gpus:
        counts[node] += 1
    return [(node, str(index)) for node in silent for index in range(max(counts.values(), default=0))]


def _rates(gpus: Sequence[GpuKey], holes: Sequence[GpuKey], facts: dict[GpuKey, dict[str, Reading]]) -> ItemFacts:
    measured = [Measured(*gpu, _number(facts[gpu]["tensor.rate"]), _number(facts[gpu]["tensor.clock"])) for gpu in gpus]
    fleet = judge([*measured, *(Measured(*gpu, None, None) for gpu in holes)])
    for gpu, work, rate in zip(gpus, fleet.work_per_clock, fleet.rate, strict=False):
        own = facts[gpu]["tensor.rate"]
        if isinstance(own, Unknown):
            for name in ("work", "work_effect", "rate", "rate_effect", "rate_far"):
                yield _fact(gpu, name, own)
            continue
        yield from _held(gpu, "work", work, work.outcome, _beside(gpus, work, "work per clock"))
        message = _beside(gpus, rate, "rate")
        yield from _held(gpu, "rate", rate, rate.outcome, message)
        yield _fact(gpu, "rate_far", Sourced(_word(rate, rate.far, "slow"), message))


def _best(gpus: Sequence[GpuKey], holes: int, facts: dict[GpuKey, dict[str, Reading]]) -> ItemFacts:
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
            yield _fact(gpu, "work_best", Sourced("slow", message))
        elif value >= most * (1 - APART):
            yield _fact(gpu, "work_best", "fine")
        else:
            yield _fact(
                gpu, "work_best", Unknown(Reason.NOT_TESTED, f"up to {silent} GPUs of its model have no measurement")
            )


def _per_clock(facts: dict[str, Reading]) -> float | None:
    rate, clock = _number(facts["tensor.rate"]), _number(facts["tensor.clock"])
    return rate / clock if rate is not None and clock else None


def _heat(gpus: Sequence[GpuKey], holes: Sequence[GpuKey], facts: dict[GpuKey, dict[str, Reading]]) -> ItemFacts:
    """Compare 1 / warming as if it were a rate: a GPU is hot if its value is far below the values of its peers."""
    rises = [_number(facts[gpu]["tensor.rise"]) for gpu in gpus]
    given = [Measured(*gpu, 1 / rise if rise else None, None) for gpu, rise in zip(gpus, rises, strict=True)]
    fleet = judge([*given, *(Measured(*gpu, None, None) for gpu in holes)])
    for gpu, held in zip(gpus, fleet.rate, strict=False):
        own = facts[gpu]["tensor.rise"]
        if isinstance(own, Unknown):
            yield _fact(gpu, "heat", own)
            yield _fact(gpu, "heat_effect", own)
            continue
        effect = None if held.effect is None else 1 / (1 + held.effect) - 1
        turned = held if effect is None or held.z is None else replace(held, effect=effect, z=-held.z)
        message = _beside(gpus, turned, "warming per watt")
        yield _fact(gpu, "heat", Sourced(_word(held, held.far, "hot"), message))
        yield _fact(gpu, "heat_effect", effect * 100 if effect is not None else _missing(held))


def _results(gpus: Sequence[GpuKey], facts: dict[GpuKey, dict[str, Reading]], *, alone: bool) -> ItemFacts:
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
    nodes = len({node for node, _ in gpus})
    far = "" if held.effect is None or held.z is None else f": {held.effect * 100:+.1f} %, {held.z:+.1f} deviations"
    return f"{what} against {len(gpus) - 1} GPUs of its model on {nodes} {'node' if nodes == 1 else 'nodes'}{far}"


def _held(gpu: GpuKey, name: str, held: PeerComparison, outcome: StragglerOutcome, message: str) -> ItemFacts:
    yield _fact(gpu, name, Sourced(_word(held, outcome, "slow"), message))
    yield _fact(gpu, f"{name}_effect", held.effect * 100 if held.effect is not None else _missing(held))


def _word(held: PeerComparison, outcome: StragglerOutcome, word: str) -> Reading:
    if outcome is StragglerOutcome.NOT_TESTED:
        return _missing(held)
    return word if outcome is StragglerOutcome.SLOW else "fine"


def _missing(held: PeerComparison) -> Unknown:
    return Unknown(Reason.NOT_TESTED, held.why or "too few GPUs of its model have measurements to compare with")


def _nothing(gpus: Sequence[GpuKey], why: Reading) -> ItemFacts:
    for gpu in gpus:
        for name in ("work", "work_effect", "rate", "rate_far", "rate_effect", "heat", "heat_effect"):
            yield _fact(gpu, name, why)


def _fact(gpu: GpuKey, name: str, reading: Reading | Sourced) -> tuple[str, str, Reading | Sourced]:
    return gpu[0], f"burnin.gpu/{spell_key(gpu[1])}.among.{name}", reading


def _number(reading: Reading) -> float | None:
    known = isinstance(reading, int | float) and not isinstance(reading, bool) and math.isfinite(reading)
    return float(reading) if known and isinstance(reading, int | float) else None
