"""Computes the state of each step that an acceptance has agreed on, from its readings. Pure.

A step is open on a node until a reading does what was agreed: the node was read, a burn-in of the agreed tier has a
result, and the counters were read before and after this burn-in, on the same boot.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rackcheck.evaluate.law import conclude
from rackcheck.evaluate.verdict import Outcome, worst
from rackcheck.model import path as paths
from rackcheck.model.fact import Plane
from rackcheck.model.profile import Phase, Profile, Scope
from rackcheck.model.text import natural
from rackcheck.parse.burnin.plan import Tier
from rackcheck.probe.group import Seat, is_group
from rackcheck.report.counters import Counters, incomparable, limits, risen
from rackcheck.report.run_data import CollectedRun
from rackcheck.run.event import Judged
from rackcheck.signoff.steps import NO_STEPS, AgreedSteps
from rackcheck.views.steps import AUDIT, BURN_IN, COUNTERS, CounterRise, Step

ANY = "any"
TESTED = frozenset({"cpu", "dimm", "gpu", "nvswitch"})
"""Kinds of parts that a burn-in tests: after one of them was replaced, the burn-in is to be repeated."""

Left = dict[str, list[str]]
"""The nodes on which a step is open, by reason."""


@dataclass(frozen=True)
class StepInputs:
    """The merged verdicts of an acceptance, its readings from the oldest to the newest, and what was agreed.

    `planes` are the agreed planes, `seats` the nodes of the acceptance. `swaps` contains, for each node, the path of
    each replaced part, the time of the first reading with the new part, and the new identifier.
    """

    readings: Sequence[CollectedRun]
    judged: Sequence[Judged]
    groups: Sequence[Judged]
    profile: Profile
    agreed: AgreedSteps
    planes: frozenset[Plane]
    seats: Sequence[Seat]
    swaps: Mapping[str, Sequence[tuple[str, str, str]]]


def steps(given: StepInputs) -> tuple[Step, ...]:
    """Return the steps in their order: the audit, each burn-in, and the counters after the burn-in."""
    agreed = given.agreed
    if agreed == NO_STEPS:  # an acceptance that was opened before there were steps
        return ()
    found = [_audit(given)]
    if agreed.no_burn_in:
        found.append(Step(BURN_IN, declined=agreed.no_burn_in))
    found += [_burn_in(given, tier) for tier in agreed.tiers]
    if agreed.no_counters and agreed.tiers:
        found.append(Step(COUNTERS, declined=agreed.no_counters))
    if agreed.counters:
        found.append(_counters(given))
    return tuple(found)


def opened(judged: Judged, found: Sequence[Step]) -> Judged:
    """Return a node's result; a PASS becomes INCOMPLETE if a step is open on the node."""
    if judged.outcome is not Outcome.PASS:
        return judged
    reason = next((f"{s.name}: {why}" for s in found for why, nodes in s.left if judged.node in nodes), "")
    return replace(judged, outcome=Outcome.INCOMPLETE, reason=reason) if reason else judged


def is_shorter(run: CollectedRun, node: str, tier: Tier | None) -> bool:
    """Whether a run put a node under load for a shorter time than `tier`, or for an unknown time."""
    return tier is not None and Plane.BURNIN.value in run.started.planes and _seconds(run, node) < tier.seconds


def _seconds(run: CollectedRun, node: str) -> float:
    """Return the length of a node's burn-in in seconds; 0 if the run has no result of a burn-in."""
    tier = run.burns[node].about.tier if node in run.burns else ""
    return Tier(tier).seconds if tier in set(Tier) else 0.0


def _audit(given: StepInputs) -> Step:
    read = {judged.node for judged in given.judged}
    unread = [seat.name for seat in given.seats if seat.name not in read]
    left: Left = {"not read by any run": unread} if unread else {}
    return _step(AUDIT, left, _outcomes(given, frozenset({Phase.CONFIG, Phase.FABRIC})))


def _burn_in(given: StepInputs, tier: Tier) -> Step:
    left = _unloaded(given)
    for name in _loaded(given):
        burnt = _burnt(given, name, tier)
        if burnt is None:
            left.setdefault(_missing(given, name), []).append(name)
            continue
        tested = {part.serial for part in burnt.burns[name].parts.values()}
        for path, since, new in given.swaps.get(name, ()):
            if _kind(path) in TESTED and since > burnt.started.time and new not in tested:
                left.setdefault(f"{path.rpartition('.')[0]} was replaced since", []).append(name)
                break
    return _step(BURN_IN, left, _outcomes(given, frozenset({Phase.BURN_IN})), tier.value)


def _missing(given: StepInputs, name: str) -> str:
    tried = max((_seconds(run, name) for run in given.readings if name in run.judged), default=0.0)
    shorter = next((each.value for each in Tier if each.seconds == tried), "")
    return f"only a burn-in of tier {shorter} has a result" if shorter else "not run"


def _counters(given: StepInputs) -> Step:
    """Compare each counter that a rule limits, in the newest audits before and after the burn-in."""
    tier = given.agreed.longest
    assert tier is not None
    left = _unloaded(given)
    rises: dict[tuple[str, str, str, str], list[str]] = {}
    named = limits(given.profile.rules)
    for name in _loaded(given):
        found = _around(given, name, tier)
        why = found if isinstance(found, str) else incomparable(*found, named)
        if why:
            left.setdefault(why, []).append(name)
        for path, was, now in risen(*found) if not isinstance(found, str) else ():
            rule = named[str(paths.parse(path).pattern)].id
            rises.setdefault((rule, path, f"{was:,}", f"{now:,}"), []).append(name)
    ordered = sorted(rises.items(), key=lambda item: natural(item[0][1]))
    return _step(COUNTERS, left, [], rises=tuple(CounterRise(*key, tuple(nodes)) for key, nodes in ordered))


def _around(given: StepInputs, name: str, tier: Tier) -> tuple[Counters, Counters] | str:
    """Return a node's counters before and after its newest burn-in, or the reason why they were not read."""
    burnt = _burnt(given, name, tier)
    if burnt is None:
        return "the burn-in has no result"
    audits = [run for run in given.readings if name in run.counters]
    whole = [run for run in audits if {plane.value for plane in given.planes} <= set(run.started.planes)]
    audits = whole or audits
    before = [run for run in audits if run.started.time <= burnt.started.time]
    after = [run for run in audits if run.started.time >= burnt.done.time]
    if not before:
        return "no audit before the burn-in"
    if not after:
        return "no audit after the burn-in"
    return before[-1].counters[name], after[-1].counters[name]


def _burnt(given: StepInputs, name: str, tier: Tier) -> CollectedRun | None:
    """Return the newest run with a result of a burn-in of this tier, or of a longer one, on a node."""
    return next((run for run in reversed(given.readings) if _seconds(run, name) >= tier.seconds), None)


def _loaded(given: StepInputs) -> Iterator[str]:
    """Yield the nodes for whose role the profile has a rule about the results of a burn-in."""
    rules = [rule for rule in given.profile.own if rule.phase is Phase.BURN_IN and rule.scope is Scope.NODE]
    roles = {role for rule in rules for role in rule.roles}
    yield from (seat.name for seat in given.seats if roles & {seat.role, ANY})


def _unloaded(given: StepInputs) -> Left:
    """Return all nodes, with a reason, if none of them has a role that a burn-in is for: nothing done is no PASS."""
    names = [seat.name for seat in given.seats]
    return {} if any(_loaded(given)) or not names else {"no rule for a burn-in applies to the role": names}


def _kind(path: str) -> str:
    """Return the kind of a part, the same on both planes: `gpu` for `gpu/3.serial` and for `bmc.gpu/3.serial`."""
    return next(segment.word for segment in paths.parse(path).segments if segment.word != Plane.BMC.value)


def _outcomes(given: StepInputs, phases: frozenset[Phase]) -> list[Outcome]:
    """Return the outcome of each node and group by its rules of some phases; nothing for a node without a verdict."""
    known = {rule.id: rule for rule in given.profile.rules}
    found = []
    for each in (*given.judged, *given.groups):
        mine = [verdict for verdict in each.verdicts if known[verdict.rule].phase in phases]
        if mine:
            law = given.profile.law
            found.append(conclude(mine, known, each.fit, law=law, together=is_group(each.node)).outcome)
    return found


def _step(
    kind: str, left: Left, outcomes: Sequence[Outcome], tier: str = "", rises: tuple[CounterRise, ...] = ()
) -> Step:
    open_ = [Outcome.INCOMPLETE] * bool(left)
    rows = tuple((why, tuple(dict.fromkeys(nodes))) for why, nodes in left.items())
    return Step(kind, tier, worst([Outcome.PASS, *outcomes, *open_]), left=rows, rises=rises)
