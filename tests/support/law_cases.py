"""Runs of all kinds of rules over nodes with facts, and over the same nodes with fewer facts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from law_built_in import laid_under
from law_facts import CATALOGUE, GATHERINGS, JOINS
from law_nodes import PLANES, TIME, NodeFacts, changed, facts_to_read, read_twice, ways, world_of
from law_rules import ALONE, MIXES, judged_rules, pick

from rackcheck.evaluate.law import Outcome
from rackcheck.evaluate.verdict import Status
from rackcheck.evaluate.waiver import Pin, Waiver, pinned
from rackcheck.inventory import Node
from rackcheck.model.fit import Match
from rackcheck.model.profile import Phase, Profile, Rule, Scope
from rackcheck.model.tree import Tree
from rackcheck.probe.group import Seat, is_group
from rackcheck.probe.plan import plan
from rackcheck.run.event import Judged
from rackcheck.run.job import Again, Job
from rackcheck.run.judging import Judging

RELAXED = settings(deadline=None, suppress_health_check=list(HealthCheck))


@dataclass(frozen=True)
class Case:
    """Rules that judge a node alone, its facts, and its facts with some of them removed."""

    rules: tuple[Rule, ...]
    whole: Tree
    less: Tree
    taken: tuple[str, ...]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """One node, and the same node with fewer facts."""
    audit = draw(audits(ALONE))
    ((name, whole),) = [*audit.whole.items()][:1]
    joins = audit.job.plan.joins
    return Case(audit.rules, whole.tree(joins), audit.less[name].tree(joins), audit.taken)


@dataclass(frozen=True)
class Audit:
    """A run, the facts of its nodes, and the facts with some of them removed."""

    job: Job
    whole: Mapping[str, NodeFacts]
    less: Mapping[str, NodeFacts]
    taken: tuple[str, ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        assert self.job.profile is not None
        return self.job.profile.rules

    def __repr__(self) -> str:
        text = "\n".join(f"{name}: {_shown(each)}" for name, each in self.whole.items())
        seats = ", ".join(f"{seat.name} {seat.role} {seat.rack}" for seat in self.job.seats)
        return f"{self.rules}\nseats {seats}\n{text}\nwaivers {self.job.waivers}\nwithout {self.taken}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


def _shown(value: NodeFacts) -> str:
    first, second = ({p: leaf.reading for p, leaf in each.items()} for each in (value.first, value.second or {}))
    return f"{first}, silent {value.silent}, then {second}, silent {value.silent_then}, apart {value.apart}"


Verdicts = Mapping[str, Judged]


def judged(job: Job, trees: Mapping[str, Tree]) -> Verdicts:
    """The outcome of an audit of these nodes, by the name of the node or the group."""
    judging = Judging(job)
    events = [event for node in job.nodes for event in judging.take(node, trees[node.name])]
    events += judging.close()
    return {event.node: event for event in events if isinstance(event, Judged)}


def trees_of(audit: Audit, values: Mapping[str, NodeFacts]) -> dict[str, Tree]:
    """The facts of every node as they are judged."""
    return {name: each.tree(audit.job.plan.joins) for name, each in values.items()}


@st.composite
def seated(draw: st.DrawFn, found: Iterable[Rule]) -> tuple[tuple[Node, ...], tuple[Seat, ...]]:
    """The nodes to collect from, and all nodes of the inventory."""
    found = tuple(found)
    groups = any(rule.scope is not Scope.NODE for rule in found)
    across = any(rule.across is not None for rule in found)
    count = pick(draw, [3, 3, 4, 5] if across else [2, 2, 3] if groups else [1, 1, 1, 2])
    other = "nvswitch-tray" if groups and not across else "power-shelf"
    roles = [other if not draw(st.integers(0, 7)) else "compute" for _ in range(count)]
    racks = pick(draw, ["aaaaa", "aaaaa", "aabbb", "aaab "]) if groups else "     "
    nodes = tuple(Node(f"n{n}", role, f"n{n}", rack=racks[n].strip()) for n, role in enumerate(roles))
    seats = [Seat(node.name, node.role, node.rack) for node in nodes]
    if across and not draw(st.integers(0, 2)):
        seats.append(Seat("n9", "compute", ""))
    return nodes, tuple(seats)


def job_of(found: tuple[Rule, ...], nodes: tuple[Node, ...], seats: tuple[Seat, ...], *, again: bool) -> Job:
    """A run of these rules over these nodes, read twice on request."""
    profile = Profile("law", "1", "", found)
    first, second = (plan(facts, (), CATALOGUE, JOINS, GATHERINGS) for facts in (profile.facts(), profile.twice()))
    return Job(
        first, nodes, profile, frozenset(PLANES), frozenset(Phase), id="law", time=TIME, expected=seats,
        again=Again(60, second) if again else None,
    )  # fmt: skip


DAY = "2026-06-01"


@st.composite
def waivers(draw: st.DrawFn, before: Verdicts) -> tuple[Waiver, ...]:
    """Waivers for some of the failures."""
    wrong = [
        (node, verdict.rule, pinned(evidence))
        for node, each in before.items()
        for verdict in each.verdicts
        for evidence in verdict.evidence
        # The time of a rate is set by the test: it is never removed.
        if evidence.status in {Status.FAIL, Status.WARN} and "may rise" not in evidence.expected
    ]
    chosen = draw(st.lists(st.sampled_from(wrong), max_size=3, unique=True)) if wrong else []
    return tuple(_waiver(node, rule, pin) for node, rule, pin in chosen)


def _waiver(node: str, rule: str, pin: Pin) -> Waiver:
    return Waiver(rule, "", (node,), (pin,), DAY, "Jo", "OPS-1", "part ordered")


@st.composite
def taken_away(draw: st.DrawFn, values: Mapping[str, NodeFacts]) -> tuple[dict[str, NodeFacts], tuple[str, ...]]:
    """Remove several things at once, from one node or from several."""
    less, words = dict(values), list[str]()
    for _ in range(draw(st.integers(1, 3))):
        name = pick(draw, sorted(less))
        word, left = pick(draw, [*ways(less[name])])
        less[name] = left()
        words.append(f"{name}: {word}")
    return less, tuple(words)


@st.composite
def audits(draw: st.DrawFn, mixes: st.SearchStrategy[tuple[str, ...]] = MIXES) -> Audit:
    """A run of all kinds of rules, and one with fewer facts."""
    found = draw(judged_rules(mixes))
    nodes, seats = draw(seated(found))
    twice = any(rule.twice for rule in found)
    job = job_of(found, nodes, seats, again=twice and bool(draw(st.integers(0, 7))))
    base = draw(world_of(facts_to_read(job.plan)))
    values: dict[str, NodeFacts] = {}
    for node in nodes:
        world = draw(changed(base, 2)) if values else base
        values[node.name] = draw(read_twice(world, job.again.plan if job.again is not None else None))
    if not draw(st.integers(0, 9)):
        name = pick(draw, sorted(values))
        values[name] = values[name].silenced(pick(draw, PLANES))
    if not draw(st.integers(0, 2)):
        job, values = draw(laid_under(job, values))
    less, words = draw(taken_away(values))
    audit = Audit(job, values, less, words)
    if not draw(st.integers(0, 4)):
        waived = draw(waivers(judged(job, trees_of(audit, values))))
        audit = replace(audit, job=replace(job, waivers=waived))
    return audit


# ---- the law ---------------------------------------------------------------------------------------------------------

TRIED = 8
"""Number of single things removed from each case; half as many from its reduced variant."""


def hold(audit: Audit) -> Verdicts:
    """Judge with all facts, with fewer, and with one thing less than each; no verdict may turn."""
    whole = checked(audit.job, trees_of(audit, audit.whole))
    less = compared(audit, whole, trees_of(audit, audit.less), " and ".join(audit.taken))
    for before, values, tried in ((whole, audit.whole, TRIED), (less, audit.less, TRIED // 2)):
        trees = trees_of(audit, values)
        every = [(name, *way) for name, each in values.items() for way in ways(each)]
        step = max(1, len(every) // tried)
        for name, word, rest in islice(every, len(audit.taken[0]) % step, None, step):
            compared(audit, before, {**trees, name: rest().tree(audit.job.plan.joins)}, f"{name}: {word}")
    return whole


def compared(audit: Audit, before: Verdicts, trees: Mapping[str, Tree], taken: str) -> Verdicts:
    """Judge the remaining facts, and compare with the verdict on all facts."""
    after = checked(audit.job, trees)
    assert before.keys() == after.keys(), f"others are judged without {taken}"
    for name, was in before.items():
        now = after[name]
        for b, a in zip(was.verdicts, now.verdicts, strict=True):
            assert a.rule == b.rule
            assert a.status in {b.status, Status.UNKNOWN}, (
                f"{name}: {b.rule}: {b.status} ({b.reason}) became {a.status} ({a.reason}) without {taken}"
            )
        # Where it is unknown whether this is another machine, its rules decide again; they never pass it.
        lost = was.fit.match is Match.OTHER and now.fit.match is Match.UNKNOWN
        # An unknown built-in rule does not decide: where it alone failed, the evidence of the others remains.
        known = {rule.id: rule for rule in audit.rules}
        failed = [v for v in was.verdicts if v.status is Status.FAIL and known[v.rule].severity.decides]
        alone = bool(failed) and all(known[v.rule].built_in for v in failed)
        allowed = {was.outcome, Outcome.INCOMPLETE, *([Outcome.FAIL] * lost), *([Outcome.PASS] * alone)}
        assert now.outcome in allowed, f"{name}: {was.outcome} became {now.outcome} without {taken}"
    return after


def checked(job: Job, trees: Mapping[str, Tree]) -> Verdicts:
    """Judge; regardless of what is known, every verdict except a pass has a reason."""
    found = judged(job, trees)
    for each in found.values():
        for verdict in each.verdicts:
            assert verdict.reason or verdict.status is Status.PASS, f"{verdict.status} of {verdict.rule} has no reason"
        rests_on_evidence(job, each)
    return found


def rests_on_evidence(job: Job, node: Judged) -> None:
    """Check an outcome: no PASS without facts or for another machine; a reason where it is INCOMPLETE."""
    assert job.profile is not None
    known = {rule.id: rule for rule in job.profile.rules}
    assert bool(node.reason) is (node.outcome is Outcome.INCOMPLETE), f"{node.node}: {node.outcome}: {node.reason!r}"
    if node.outcome is not Outcome.PASS:
        return
    own = [v.status for v in node.verdicts if known[v.rule].severity.decides and not known[v.rule].built_in]
    assert is_group(node.node) or {Status.PASS, Status.WAIVED} & set(own), f"{node.node} passes on nothing"
    assert not {Status.FAIL, Status.UNKNOWN} & set(own), f"{node.node} passes with {own}"
    assert node.fit.match in {Match.FITS, Match.NOT_STATED}, f"{node.node} passes, and {node.fit}"
