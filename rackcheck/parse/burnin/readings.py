"""Computes readings from a burn-in's records: values of stages, increases of counters, reasons for unknowns. Pure.

Any fault is reported, however little was tested; the absence of faults is reported only if everything was tested.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median

from rackcheck.model.burn_record import Burn, Fault, Record, Stage
from rackcheck.model.fact import Absent, Reading, Reason, Sourced, Unknown
from rackcheck.parse.burnin.label import words

VERIFYING = ("mismatch", "disagree", "not finite", "alias")
"""Names of findings that mean a wrong value was computed, stored or moved."""


def untested(burn: Burn, stages: Iterable[Stage]) -> Unknown:
    """Return why a value is unknown.

    The reason is, in this order: why a stage was not tested, why the burn-in ended early, or that the burn-in does not
    report the value.
    """
    why = next((stage.why for stage in stages if not stage.done), "")
    if not why and not burn.whole:
        why = f"the burn-in ended early: {burn.why}" if burn.why else "the burn-in ended early"
    return Unknown(Reason.NOT_TESTED, why or "the burn-in reports no value")


def rate_of(reading: Reading) -> float | None:
    """Return a rate or a power as a number; None if it is not a finite number of at least zero."""
    known = isinstance(reading, int | float) and not isinstance(reading, bool) and math.isfinite(reading)
    return float(reading) if known and isinstance(reading, int | float) and reading >= 0 else None


def figure(burn: Burn, stages: Sequence[Stage], name: str, pick: str = "median") -> Reading:
    """Return the median or lowest value of a field over stages; unknown if a stage is untested or lacks the field."""
    if not stages or not all(stage.done for stage in stages):
        return untested(burn, stages)
    found = [value for stage in stages if (value := stage.number(name)) is not None]
    if len(found) < len(stages):
        return _unmeasured(stages) if name == "rate" else Unknown(Reason.NOT_TESTED, f"the burn-in reports no {name}")
    return float(min(found) if pick == "lowest" else median(found))


def _unmeasured(stages: Sequence[Stage]) -> Unknown:
    """Return why a stage that is done has no rate."""
    for stage in stages:
        measured, least = stage.number("measured"), stage.number("least")
        if stage.number("rate") is None and measured is not None and least is not None:
            return Unknown(Reason.NOT_TESTED, f"the rate was measured for {measured:.3g} s; the minimum is {least:g} s")
    return Unknown(Reason.NOT_TESTED, "the burn-in reports no rate")


def mismatches(
    burn: Burn, things: Iterable[str], stages: Sequence[Stage], wanted: Iterable[str], beside: Sequence[Stage] = ()
) -> Reading:
    """Count the wrong results of some parts, such as `gpu/0`; return 0 only if every stage in `wanted` was verified.

    Mismatches in the stages `beside` are counted too, but these stages do not count as a verification of a stage in
    `wanted`.
    """
    named = set(things)
    wrong = [fault for of in named for fault in burn.of_thing(of) if fault.name in VERIFYING]
    value = sum(int(stage.number("mismatches") or 0) for stage in (*stages, *beside))
    count = max(value, sum(int(fault.number("count") or 1) for fault in wrong))
    if count:
        return count
    verified = {stage.stage for stage in stages if stage.done and stage.number("mismatches") is not None}
    missing = next((name for name in wanted if name not in verified), "")
    if not burn.whole or not all(stage.done for stage in (*stages, *beside)):
        return untested(burn, (*stages, *beside))
    return Unknown(Reason.NOT_TESTED, f"the burn-in reports no result of stage {missing}") if missing else 0


def rows(burn: Burn, of: str, spans: Iterable[tuple[float, float]]) -> Iterator[Record]:
    """Yield the samples of a part, such as `gpu/0`, taken within any of these time spans, in order of time."""
    kept = sorted(spans)
    at = 0
    for row in sorted(burn.samples.get(of, ()), key=lambda each: each.t):
        while at < len(kept) and kept[at][1] < row.t:
            at += 1
        if at < len(kept) and kept[at][0] <= row.t:
            yield row


def begun(stage: Stage) -> float:
    """Return the time at which the work of a stage began, in seconds on the node's clock."""
    begin = stage.number("from")
    return begin if begin is not None else stage.t


def span(stage: Stage, settle: float = 0.0) -> tuple[float, float]:
    """Return the start and the end of a stage's work in seconds, without the first `settle` seconds."""
    return begun(stage) + settle, stage.t


def last_half(work: Sequence[Stage], settle: float = 0.0) -> list[tuple[float, float]]:
    """Return the time spans of the last half of the time that some stages worked, in seconds on the node's clock.

    The first `settle` seconds of each stage are left out. What a part reaches at the end of a load is what it keeps: a
    mean over the whole stage hides a part that cannot hold its power or its clock.
    """
    skipped = sum(stage.t - begun(stage) for stage in work) / 2
    found = []
    for stage in work:
        begin, end = span(stage, settle)
        begin = max(begin, begun(stage) + skipped)
        skipped = max(0.0, skipped - (stage.t - begun(stage)))
        if begin < end:
            found.append((begin, end))
    return found


def stretch(work: Sequence[Stage]) -> tuple[float, float]:
    """Return the start of the first stage, and the end of the last stage before a pause of more than one second."""
    begin, end = span(work[0])
    for stage in work[1:]:
        if begun(stage) - end > 1.0:
            break
        end = stage.t
    return begin, end


def column(found: Iterable[Record], name: str) -> list[float]:
    """Return the numbers in one field of these records; records without the field are skipped."""
    return [value for row in found if (value := row.number(name)) is not None]


EDGE = 2.0
"""Maximum time, in seconds, from the start of the work to the first sample, and from the last sample to the end."""


def beside(burn: Burn, of: str, wanted: Iterable[str], name: str) -> Unknown | None:
    """Return why the samples of the value `name` do not cover the whole load of a part; None if they cover it.

    The samples do not cover the load if some work was not done, if the first sample is too long after the start of the
    work, or if the last sample is too long before the end of the work.
    """
    work = [stage for stage in burn.work_of(of) if stage.stage != "again"]
    undone = next((each for each in wanted if not any(stage.done for stage in work if stage.stage == each)), "")
    if not burn.whole or undone or not all(stage.done for stage in work):
        return untested(burn, [stage for stage in work if not stage.done])
    times = [row.t for row in burn.samples.get(of, ()) if row.number(name) is not None]
    if not times or min(times) > min(map(begun, work)) + EDGE or max(times) < max(stage.t for stage in work) - EDGE:
        return Unknown(Reason.NOT_TESTED, f"its samples of {name} do not cover the whole load")
    return None


def moved(burn: Burn, of: str, name: str, wanted: Iterable[str] | None = None) -> Reading:
    """Return the increase of a counter during the load; unknown if it was reported only once, or decreased.

    `wanted` lists the stages of the load; if it is given, an increase of 0 is returned only if these stages were tested
    and the samples of the counter cover the whole load.
    """
    values = column(burn.samples.get(of, ()), name)
    if len(values) < 2:
        return Unknown(Reason.NOT_TESTED, "the value was not reported both before and after the load")
    if any(later < earlier for earlier, later in pairwise(values)):
        return Unknown(Reason.COUNTER_RESET, f"{name} decreased")
    why = beside(burn, of, wanted, name) if wanted is not None else None
    return int(values[-1] - values[0]) or why or 0


def named(burn: Burn, of: str) -> str:
    """Return the name of a part, with what identifies the physical GPU: its serial number or UUID, place and module.

    A GPU's index may change from one start of the node to the next. `peer/0-1` names both GPUs.
    """
    kind, _, key = of.partition("/")
    known = [words(burn.gpus.get(index, {})) for index in (key.split("-") if kind in ("gpu", "peer") else ())]
    return f"{of} ({'; '.join(known)})" if any(known) else of


def described(fault: Fault, burn: Burn | None = None) -> str:
    """Describe a fault in one line: the part, the test, the address, the expected and the actual value.

    With `burn`, the name of a GPU includes what identifies the physical part.
    """
    parts = [f"{named(burn, fault.of) if burn else fault.of} {fault.name}"]
    test = " ".join(dict.fromkeys(word for word in (fault.word("stage"), fault.word("test")) if word))
    parts += [f"in {test}"] if test else []
    address, want, got = (fault.word(name) for name in ("address", "want", "got"))
    parts += [f"at {address}"] if address else []
    parts += [f"expected {want}, got {got}"] if want and got else []
    if (bits := fault.number("bits")) is not None:
        parts.append(f"{int(bits)} {'bit' if bits == 1 else 'bits'}")
    parts += [f"content of {fault.word('other')}"] if fault.word("other") else []
    parts += [f"SM {int(sm)}"] if (sm := fault.number("sm")) is not None else []
    parts += [fault.word("said")] if fault.word("said") else []
    if (seed := fault.number("seed")) is not None:
        parts.append(f"pattern seed {int(seed)}")
    return ", ".join(parts)


def again(burn: Burn, of: str) -> Reading:
    """Return when a fault recurred while the failed work was repeated; absent if there was no fault.

    The result is `always` (in every repetition), `hot` (only while the part was hot), `cold` (only after it had
    cooled), `at times` or `never`.
    """
    items = [stage for stage in burn.of_stage("again", of) if stage.number("rounds")]
    if not items:
        wrong = any(fault.name in VERIFYING for fault in burn.of_thing(of))
        return Unknown(Reason.NOT_TESTED, "the work was not repeated") if wrong else Absent("no fault was found")
    came = {heat: [s for s in items if s.test.endswith(heat) and s.number("found")] for heat in ("hot", "cold")}
    if not came["hot"] or not came["cold"]:
        return next((heat for heat, found in came.items() if found), "never")
    return "always" if all(stage.number("found") == stage.number("rounds") for stage in items) else "at times"


def cited(burn: Burn, things: Iterable[str], reading: Reading, stage: str = "") -> Reading | Sourced:
    """Add the first counted fault, as the source, to a count that is not 0; return any other reading unchanged."""
    wanted = set(things)
    of_stage = (fault for fault in burn.faults if not stage or fault.word("stage") == stage)
    found = [fault for fault in of_stage if fault.of in wanted and fault.name in VERIFYING]
    if not found or not isinstance(reading, int) or not reading:
        return reading
    seed = burn.hello.get("seed")
    more = f"; --seed {seed} repeats it" if isinstance(seed, int) else ""
    came = again(burn, found[0].of)
    more += f"; recurrence when repeated at once and after cooling: {came}" if isinstance(came, str) else ""
    return Sourced(reading, f"burn-in: {described(found[0], burn)}{more}")


def mean(values: Sequence[float]) -> Reading:
    """Return the mean of the values; unknown if there are none."""
    return sum(values) / len(values) if values else Unknown(Reason.NOT_TESTED, "no sample was taken during the load")


def highest(values: Sequence[float]) -> Reading:
    """Return the highest of the values; unknown if there are none."""
    return max(values) if values else Unknown(Reason.NOT_TESTED, "no sample was taken")
