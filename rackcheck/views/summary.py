"""Summarizes the result of a run: counts, findings grouped over nodes, and notes.

All output formats use this summary.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rackcheck.evaluate.verdict import Evidence, Outcome, Status, Verdict
from rackcheck.evaluate.waiver import Standing, Waiver, WaiverState, standings
from rackcheck.model.fact import Plane, Unknown
from rackcheck.model.fit import Match
from rackcheck.model.fold import fold
from rackcheck.model.profile import FIRST, Phase, Profile, Rule, Scope, Severity
from rackcheck.model.text import natural
from rackcheck.probe.group import is_group
from rackcheck.profile.reviewed import review_notice as said_of
from rackcheck.profile.reviewed import unreviewed
from rackcheck.profile.roles import EVERY_ROLE, ROLES, nearest
from rackcheck.run.event import Event, FactsRead, Judged, RunDone, RunStarted
from rackcheck.views.locations import Whole, whole
from rackcheck.views.part_names import Named, PartNames
from rackcheck.views.reasons import NEVER_READ, NO_NODE, Reasons, gathered, in_one_line
from rackcheck.views.simulation import is_simulated, of_targets
from rackcheck.views.steps import Step

ORDER = (Status.FAIL, Status.UNKNOWN, Status.WARN, Status.WAIVED, Status.NA, Status.PASS)
FEW = 5
"""Maximum number of waivers listed by name that apply only to nodes or rules not judged in this run."""

NOTED = 12
"""Maximum number of waivers without effect that have a separate line."""

COUNTED = (Status.PASS, Status.WARN, Status.FAIL, Status.WAIVED, Status.UNKNOWN, Status.NA)


@dataclass(frozen=True)
class Finding:
    """One rule's verdict on one or more nodes or racks with the same evidence.

    `truth` is the verdict without waivers, if it differs from the verdict with waivers.
    """

    rule: Rule
    status: Status
    reason: str
    evidence: tuple[Evidence, ...]
    nodes: tuple[str, ...]
    truth: Status | None = None

    @property
    def decides(self) -> bool:
        """Whether the finding affects the outcome of its nodes."""
        return self.rule.decides(self.status, self.evidence)

    @property
    def excused(self) -> bool:
        """Whether the finding is an unknown verdict that its rule excuses."""
        return self.rule.excuses(self.status, self.evidence)

    @property
    def where(self) -> str:
        """The nodes as a folded node set, such as `dgx[01-03]`."""
        return fold(self.nodes)


Silent = Mapping[tuple[str, Plane], Unknown]
"""For each node and plane that returned nothing, the reason."""


@dataclass(frozen=True)
class Summary:
    """The result of a judged run; for a run in progress, the result so far. An acceptance also has steps."""

    started: RunStarted
    judged: tuple[Judged, ...]
    done: RunDone
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    silent: Silent = field(default_factory=dict)
    waivers: tuple[Standing, ...] = ()
    groups: tuple[Judged, ...] = ()
    named: Named = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    simulated: bool = False

    @property
    def everyone(self) -> tuple[Judged, ...]:
        """All judged nodes, then the judged racks and the fleet."""
        return (*self.judged, *self.groups)

    @property
    def whole(self) -> Whole:
        """The numbers of judged nodes and racks, which are the totals for the share of a finding."""
        return whole(len(self.judged), (group.node for group in self.groups))

    @property
    def minor_failures(self) -> int:
        """The number of failing verdicts that do not affect an outcome."""
        deciding = {f.rule.id: f.rule.severity.decides for f in self.findings}
        return sum(
            verdict.status is Status.FAIL and not deciding.get(verdict.rule, True)
            for node in self.everyone
            for verdict in node.verdicts
        )

    @property
    def counts(self) -> Mapping[Status, int]:
        """The number of verdicts by status, such as `pass` or `fail`."""
        found = dict.fromkeys(COUNTED, 0)
        for node in self.everyone:
            for verdict in node.verdicts:
                found[verdict.status] += 1
        return found

    @property
    def only(self) -> str:
        """A note such as `os plane only`; empty if all planes were collected."""
        planes = self.started.planes
        return "" if set(planes) >= {"bmc", "os"} or set(planes) == {"burnin"} else f"{' and '.join(planes)} plane only"

    @property
    def not_in_scope(self) -> int:
        """The number of verdicts that are missing because a rule was not in scope on a node."""
        return sum(node.not_in_scope for node in self.judged)

    @property
    def total(self) -> int:
        """The number of verdicts on all judged nodes, racks and the fleet."""
        return sum(len(node.verdicts) for node in self.everyone)

    @property
    def reasons(self) -> Reasons:
        """The reasons why nodes, racks and the fleet are INCOMPLETE, each with all names.

        The most frequent reason for INCOMPLETE is first.
        """
        seen = {node.node for node in self.judged}
        unread = ((name, Outcome.INCOMPLETE, NEVER_READ) for name in self.started.nodes if name not in seen)
        return gathered((*((each.node, each.outcome, each.reason) for each in self.everyone), *unread))

    @property
    def expected(self) -> Whole:
        """The number of nodes that must be judged, including nodes that no run has read, and the number of racks."""
        asked = {*self.started.nodes, *(node.node for node in self.judged)}
        return whole(len(asked), (group.node for group in self.groups))

    @property
    def reason(self) -> str:
        """The reason why the run is INCOMPLETE, in one line; empty if it is not INCOMPLETE."""
        if self.done.outcome is not Outcome.INCOMPLETE:
            return ""
        return in_one_line(self.reasons, self.expected) or ("" if self.judged else NO_NODE)

    @property
    def others(self) -> tuple[str, ...]:
        """The nodes that the profile is not for; their verdicts do not affect the outcome."""
        return tuple(node.node for node in self.judged if node.fit.match is Match.OTHER)


def summarize(events: Iterable[Event], profile: Profile, waivers: Iterable[Waiver] = ()) -> Summary:
    """Summarize all events of a run; `waivers` are the waivers with which the run was judged."""
    started: RunStarted | None = None
    done: RunDone | None = None
    judged: dict[str, Judged] = {}
    silent: dict[tuple[str, Plane], Unknown] = {}
    simulated = False
    names = PartNames(profile.rules)
    for event in names.watch(events):
        match event:
            case RunStarted():
                started = event
                simulated = of_targets(event.targets)
            case FactsRead():
                silent |= {(event.node, plane): why for plane, why in event.tree.silent.items()}
                simulated = simulated or is_simulated(event.tree)
            case Judged():
                judged[event.node] = event
            case RunDone():
                done = event
    assert started is not None and done is not None  # noqa: PT018
    nodes = tuple(judged[name] for name in started.nodes if name in judged)
    groups = tuple(each for name, each in judged.items() if is_group(name))
    everyone = (*nodes, *groups)
    stand = tuple(standings(waivers, {n.node: n.verdicts for n in everyone}, profile.rules, started.time[:10]))
    rows = (*notes(nodes, profile, groups), *waiver_notes(stand))
    found = tuple(findings(everyone, profile.rules))
    return Summary(started, nodes, done, found, rows, silent, stand, groups, names.found(), simulated=simulated)


FindingKey = tuple[str, Status, str, Status | None]
"""The values by which findings are grouped: rule, verdict, reason text, and verdict without waivers."""


def findings(judged: Sequence[Judged], rules: Sequence[Rule]) -> Iterator[Finding]:
    """Group identical verdicts of nodes.

    Findings are sorted by status (the worst first), severity, number of nodes, and the profile's order. Nodes are in
    one group if their verdicts have the same status, the same reason text, and the same status without waivers.
    """
    known = {rule.id: rule for rule in rules}
    gathered: dict[FindingKey, list[tuple[str, Verdict]]] = {}
    for node in judged:
        for verdict in node.verdicts:
            if verdict.rule in known:
                gathered.setdefault(key(node.node, verdict), []).append((node.node, verdict))
    yield from ranked((finding(known[each[0]], each, alike) for each, alike in gathered.items()), rules)


def key(name: str, verdict: Verdict) -> FindingKey:
    """Return the values by which the verdicts of nodes and racks are grouped."""
    return verdict.rule, verdict.status, _shown(name, verdict), verdict.truth


def finding(rule: Rule, shared: FindingKey, alike: Sequence[tuple[str, Verdict]]) -> Finding:
    """Combine verdicts with the same grouping values, each with its node, to one finding."""
    nodes = tuple(sorted((name for name, _ in alike), key=natural))
    return Finding(rule, shared[1], _reason(alike), alike[0][1].evidence, nodes, shared[3])


def ranked(found: Iterable[Finding], rules: Sequence[Rule]) -> list[Finding]:
    """Sort findings by status (the worst first), severity, number of nodes (the most first) and the profile's order."""
    places = {rule.id: place for place, rule in enumerate(rules)}
    severities = [s.value for s in Severity]
    return sorted(
        found,
        key=lambda f: (
            ORDER.index(f.status), severities.index(f.rule.severity.value),
            -len(f.nodes), places[f.rule.id], f.reason,
        ),
    )  # fmt: skip


def _shown(name: str, verdict: Verdict) -> str:
    """Return the reason text of a verdict, by which verdicts are grouped.

    For racks and the fleet, node names are removed from the details of unknown evidence.
    """
    shown = verdict.reason
    if not is_group(name):
        return shown
    for unknown in (each.unknown for each in verdict.evidence if each.unknown is not None):
        shown = shown.replace(unknown.detail, unknown.detail.partition(": ")[2] or unknown.detail)
    return shown


def _reason(alike: Sequence[tuple[str, Verdict]]) -> str:
    """Return the reason of the first verdict and, if the reasons differ, the number of the other verdicts."""
    first = alike[0][1].reason
    others = len(alike) - 1
    return first if all(v.reason == first for _, v in alike) else f"{first}; and {others} more with a similar reason"


def notes(judged: Sequence[Judged], profile: Profile, groups: Sequence[Judged] = ()) -> Iterator[str]:
    """Yield notes that explain the verdicts, such as rules that were not judged."""
    values: dict[str, list[str]] = {}
    for node in judged:
        if node.note:
            values.setdefault(node.note, []).append(node.node)
    for note, nodes in values.items():
        yield f"{fold(nodes)}: {note}"
    if profile.law == FIRST:
        yield f"judged by law {FIRST}, where a PASS needs no evidence; rackcheck audit --from uses the current law"
    present = {rule.id for rule in profile.rules}
    scoped = {v.rule for node in (*judged, *groups) for v in node.verdicts}
    ran = {rule.phase for rule in profile.own if rule.id in scoped} or {Phase.CONFIG}
    own = [rule for rule in profile.own if rule.phase in ran]
    unset = sorted({name for rule in own for name in rule.unset})
    if unset:
        count = sum(bool(rule.unset) for rule in own)
        yield f"{several(count, 'rule')} without a site value: {', '.join(unset)} (--set NAME=VALUE)"
    if profile.dropped:
        yield f"{several(len(profile.dropped), 'rule')} of the parent dropped: {', '.join(profile.dropped)}"
    waiting = sorted({n for r in profile.rules if r.id in scoped for n in r.needs if n in present - scoped})
    if waiting:
        what = f"{several(len(waiting), 'rule')} not in scope, but needed by rules that are judged anyway"
        yield f"{what}: {', '.join(waiting)}"
    phases = [rule.phase.value for rule in profile.own if rule.phase not in ran]
    phases += [rule.phase.value for rule in own if rule.id not in scoped and rule.phase is not Phase.CONFIG]
    for phase in dict.fromkeys(phases):
        yield f"{several(phases.count(phase), f'{phase} rule')} not run"
    yield from _strange_roles(own, scoped)
    yield from _together(own, scoped)
    learned = unreviewed(profile.files)
    if learned:
        yield said_of(learned)


def _strange_roles(rules: Sequence[Rule], scoped: Collection[str]) -> Iterator[str]:
    """Yield notes on rules that were judged on no node and are only for roles that are not known."""
    left: dict[tuple[str, ...], list[str]] = {}
    for rule in rules:
        if rule.id not in scoped and not {EVERY_ROLE, *ROLES} & set(rule.roles):
            left.setdefault(rule.roles, []).append(rule.id)
    for roles, ids in left.items():
        near = ", ".join(filter(None, map(nearest, roles)))
        meant = f" (did you mean {near}?)" if near else ""
        yield f"{several(len(ids), 'rule')} for the role {', '.join(roles)}{meant} judged no node: {', '.join(ids)}"


def _together(rules: Sequence[Rule], scoped: Collection[str]) -> Iterator[str]:
    """Yield notes on rules that were not judged because nodes or a second reading are missing."""
    left = [rule for rule in rules if rule.phase.value == "config" and rule.id not in scoped]
    twice = [rule.id for rule in left if rule.twice]
    if twice:
        what = f"{several(len(twice), 'rule')} not judged, because there is no second reading (audit --again SECONDS)"
        yield f"{what}: {', '.join(twice)}"
    across = [rule.id for rule in left if rule.across is not None]
    if across:
        wanting = f"{several(len(across), 'rule')} across nodes not judged, because there are too few nodes"
        yield f"{wanting}: {', '.join(across)}"
    for scope, what in ((Scope.RACK, "no rack was read completely"), (Scope.FLEET, "not all nodes were read")):
        held = [rule.id for rule in left if rule.scope is scope]
        if held:
            yield f"{several(len(held), f'{scope.value} rule')} not judged, {what}: {', '.join(held)}"


def waiver_notes(stand: Iterable[Standing]) -> Iterator[str]:
    """Yield notes on waivers without effect, because they are unused, lapsed or expired."""
    all_read = list(stand)
    rows = [s for s in all_read if s.state not in {WaiverState.USED, WaiverState.ELSEWHERE}]
    for s in rows[:NOTED]:
        where = f"waiver of {s.waiver.rule} on {fold(s.nodes)} ({s.waiver.ticket}, {s.waiver.place})"
        yield f"{where} {'is waiting' if s.state is WaiverState.WAITING else s.state.value}: {s.detail}"
    if len(rows) > NOTED:
        yield f"and {several(len(rows) - NOTED, 'more waiver')} without effect"
    elsewhere = list(dict.fromkeys(s.waiver for s in all_read if s.state is WaiverState.ELSEWHERE))
    if elsewhere:
        named = [f"{w.rule} on {fold(w.nodes)} ({w.ticket}, {w.place})" for w in elsewhere]
        more = f"; and {len(named) - FEW} more" if len(named) > FEW else ""
        message = f"{several(len(named), 'waiver')} for nodes or rules that are not judged here"
        yield f"{message}: {'; '.join(named[:FEW])}{more}"


def several(count: int, what: str) -> str:
    """Format a number with a noun: `1 rule`, `2 rules`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def exit_code(summary: Summary, *, strict: bool) -> int:
    """Return the exit code of a judged run: 0 pass, 1 fail, 3 incomplete, 130 interrupted."""
    if summary.done.interrupted:
        return 130
    decided = [each for each in summary.everyone if each.fit.decides]
    counts = {s: sum(v.status is s for each in decided for v in each.verdicts) for s in COUNTED}
    if strict and (counts[Status.FAIL] or counts[Status.WARN]):
        return 1
    if strict and counts[Status.UNKNOWN]:
        return 3
    return {Outcome.PASS: 0, Outcome.FAIL: 1, Outcome.INCOMPLETE: 3}[summary.done.outcome]


NOT_STORED = os.EX_IOERR


def unless_lost(code: int, lost: bool) -> int:
    """Return the exit code of a run; that of a run without findings which could not be stored whole is 74."""
    return NOT_STORED if lost and code == 0 else code
