"""Builds the document of one run, or of an acceptance with all its runs, as an object of the report model. Pure."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rackcheck.evaluate.verdict import Evidence, Outcome, Status
from rackcheck.evaluate.waiver import Standing, Waiver, WaiverState, standings
from rackcheck.model.fact import Class, Plane
from rackcheck.model.profile import Profile
from rackcheck.model.text import natural
from rackcheck.probe.group import FLEET, Seat
from rackcheck.profile.compare import differences
from rackcheck.report.burn_fold import fold
from rackcheck.report.burn_words import account
from rackcheck.report.delivered import parts, unlisted
from rackcheck.report.fingerprints import Key, Print, canonical
from rackcheck.report.hardware import compared, versions
from rackcheck.report.merge_runs import Settled, reworked, settle
from rackcheck.report.outcome import areas, punch, tally, unchecked
from rackcheck.report.report_model import (
    LETTERS,
    OUT,
    Baseline,
    Brand,
    CountedRun,
    DeviatingPart,
    Dossier,
    Exemption,
    Exhibit,
    FindingEntry,
    Gate,
    GroupRow,
    NodeRow,
    ReportSubject,
    RuleChange,
)
from rackcheck.report.rule_text import wants
from rackcheck.report.run_data import CollectedRun, fact_text, machine_serial, merged
from rackcheck.run.event import Judged
from rackcheck.signoff.bom import Bom as Ordered
from rackcheck.signoff.removed_run import RemovedRun, removed_text
from rackcheck.signoff.steps import NO_STEPS, AgreedSteps
from rackcheck.views.filled_fix import filled_fix
from rackcheck.views.locations import RACK, NodeLocation
from rackcheck.views.named_part import NamedPart
from rackcheck.views.part_findings import PartFinding, by_part
from rackcheck.views.reasons import NEVER_READ
from rackcheck.views.simulation import is_simulated, of_targets
from rackcheck.views.summary import COUNTED, Finding, findings, notes, waiver_notes

SHOWN = 12
"""Maximum number of pieces of evidence that the document shows for one finding; the run contains all of them."""

NO_BURN_IN = "No burn-in was run: this document does not show how fast these machines are."


@dataclass(frozen=True)
class ReportJob:
    """The inputs of a document except its readings (the data of its runs).

    `lineage` contains the profile and its ancestors, from the oldest ancestor to the profile itself. `fragments` are
    the fragments that the profile and its ancestors include, each compiled as a profile.
    """

    kind: str
    name: str
    state: str
    profile: Profile
    lineage: tuple[Profile, ...]
    given: Mapping[str, str]
    places: Mapping[str, NodeLocation]
    waivers: tuple[Waiver, ...] = ()
    inventory: str = ""
    planes: frozenset[Plane] | None = None
    bill: Ordered | None = None
    brand: Brand = field(default_factory=Brand)
    version: str = ""
    fragments: tuple[Profile, ...] = ()
    steps: AgreedSteps = NO_STEPS
    removed: tuple[RemovedRun, ...] = ()


def build(readings: Sequence[CollectedRun], order: ReportJob) -> Dossier:
    """Build the document from readings with fingerprints, which must be sorted from the oldest to the newest."""
    assert all(run.prints is not None for run in readings)
    profile = order.profile
    rules = {rule.id: rule for rule in profile.rules}
    seats = tuple(Seat(name, place.role, place.rack) for name, place in order.places.items()) if order.planes else ()
    settled = settle(readings, profile, order.planes, seats, order.steps)
    day = max(run.started.time for run in readings)[:10]
    judged = settled.judged
    unread = tuple(node for node in order.places if node not in settled.latest)
    found = tuple(findings(settled.everyone, profile.rules))
    rows = by_part(found, merged(readings))
    leads = {id(other): row for row in rows for other in (row.finding, *row.also)}
    silent = {(node, plane): why for node, tree in settled.trees.items() for plane, why in tree.silent.items()}
    stand = tuple(standings(order.waivers, {n.node: n.verdicts for n in settled.everyone}, profile.rules, day))
    owners = {
        (s.waiver.rule, node): (s.waiver.by, s.waiver.until)
        for s in stand
        if s.state is WaiverState.USED
        for node in s.nodes
    }
    asked = {
        node: {plane for run in readings if node in run.judged for plane in run.started.planes}
        for node in settled.latest
    }
    alone = order.kind == "run"
    outcome = readings[-1].done.outcome if alone else settled.outcome(unread)
    cut = alone and readings[-1].done.interrupted
    listed = parts(settled.trees)
    burned = fold([(run.started.run, run.burns) for run in readings])
    return Dossier(
        level="full",
        brand=order.brand,
        version=order.version,
        subject=_subject(readings, order),
        tally=tally(judged, unread, rules, outcome, cut=cut, groups=settled.groups),
        unchecked=tuple(unchecked(found, silent, judged, unread, profile, asked, settled.groups)),
        gates=tuple(_gates(settled.everyone, profile)),
        changes=tuple(_changes(order.lineage, order.fragments)),
        sources=tuple(profile.sources[name] for name in sorted(profile.sources)),
        nodes=tuple(_rows(settled, order)),
        groups=tuple(_group(group, order) for group in settled.groups),
        findings=tuple(_found(each, leads[id(each)], order.name) for each in found if each.status is not Status.PASS),
        notes=(*notes(judged, profile, settled.groups), *waiver_notes(stand), *map(removed_text, order.removed)),
        parts=listed,
        bill=compared(order.bill, listed, settled.trees, unread) if order.bill is not None else None,
        firmware=tuple(versions(settled.trees, unread)),
        compliance=tuple(areas(settled.everyone, profile.rules)),
        performance=_no_burn_in(order.steps) if burned is None else account(burned),
        exemptions=tuple(_exemption(s) for s in stand),
        punch=tuple(punch(found, silent, owners, judged, unread, cut=cut, groups=settled.groups,
                          steps=settled.steps)),
        rework=tuple(reworked(readings, profile.rules)),
        baseline=_baseline(settled.prints),
        evidence=tuple(answer for run in readings for answer in run.answers),
        burned=burned,
        simulated=any(map(_simulated, readings)),
        steps=settled.steps,
        unlisted=tuple(unlisted(settled.trees)),
        removed=order.removed,
    )  # fmt: skip


def _no_burn_in(agreed: AgreedSteps) -> str:
    return f"{NO_BURN_IN} It was declined: {agreed.no_burn_in}" if agreed.no_burn_in else NO_BURN_IN


def _subject(readings: Sequence[CollectedRun], order: ReportJob) -> ReportSubject:
    profile = order.profile
    rows = tuple(
        CountedRun(
            t.started.run, t.started.time, t.done.time, _kind(t), t.done.outcome, t.done.interrupted, t.started.nodes,
            t.started.planes, t.started.targets, t.started.version, t.operator, t.note,
        )
        for t in readings
    )  # fmt: skip
    return ReportSubject(
        order.kind, order.name, order.state, rows, profile.name, profile.version, profile.title, profile.digest,
        profile.lineage, profile.params, order.given, order.inventory,
    )  # fmt: skip


def _kind(run: CollectedRun) -> str:
    """Return the kind of a run; an audit that collected only the plane `burnin` is returned as `burn-in`."""
    return "burn-in" if run.kind == "audit" and set(run.started.planes) == {Plane.BURNIN.value} else run.kind


def _simulated(run: CollectedRun) -> bool:
    """Whether a run's nodes were simulated: by their own marks, by burn-in records, or by a `sim:` target."""
    if any(map(is_simulated, run.trees.values())):
        return True
    return any(burnt.about.simulated for burnt in run.burns.values()) or of_targets(run.started.targets)


def _gates(judged: Sequence[Judged], profile: Profile) -> Iterator[Gate]:
    counts = {rule.id: dict.fromkeys(COUNTED, 0) for rule in profile.rules}
    for node in judged:
        for verdict in node.verdicts:
            counts[verdict.rule][verdict.status] += 1
    for rule in profile.rules:
        planes = tuple(sorted(plane.value for plane in rule.planes if plane is not Plane.DERIVED))
        yield Gate(
            rule.id, rule.title, rule.severity, rule.phase.value, planes, tuple(wants(rule)), rule.why, rule.fix,
            rule.refs, counts[rule.id], rule.unset, rule.from_memory, rule.scope.value,
        )  # fmt: skip


def _changes(lineage: Sequence[Profile], fragments: Sequence[Profile]) -> Iterator[RuleChange]:
    """Yield, for each profile of the lineage, how its rules differ from those of its parent and of the fragments."""
    brought = {rule.id: rule for fragment in fragments for rule in fragment.rules}
    for parent, child in pairwise((None, *lineage)):
        assert child is not None
        under = {rule.id: rule for rule in parent.rules} if parent is not None else {}
        gone = parent.dropped if parent is not None else {}
        # A rule that a parent dropped does not count as its rule: a child that defines it again adds a rule.
        before = {name: rule for name, rule in brought.items() if name not in gone} | under
        for difference in differences(before, {rule.id: rule for rule in child.rules}):
            yield RuleChange(difference.rule, difference.lean.value, f"{difference.how} ({child.name})")
        for rule, reason in child.dropped.items():
            if rule not in gone:
                yield RuleChange(rule, "dropped", f"{reason} ({child.name})")


def _rows(settled: Settled, order: ReportJob) -> Iterator[NodeRow]:
    judged = {node.node: node for node in settled.judged}
    for name in sorted({*order.places, *judged}, key=natural):
        place = order.places.get(name, NodeLocation(""))
        where = (place.rack, place.u, place.height, place.slot, place.host, place.bmc)
        node = judged.get(name)
        if node is None:
            yield NodeRow(
                name, place.role, Outcome.INCOMPLETE, OUT * len(order.profile.rules), *where, note="never read",
                reason=_unread(order),
            )  # fmt: skip
            continue
        vector = _vector(node, order.profile)
        tree = settled.trees[name]
        identity = (fact_text(tree, "node.vendor"), fact_text(tree, "node.product"), machine_serial(tree))
        run = settled.latest[name]
        yield NodeRow(
            name, node.role, node.outcome, vector, *where, *identity, run, node.note, node.not_in_scope,
            node.reason if node.outcome is Outcome.INCOMPLETE else "", node.fit,
        )  # fmt: skip


def _unread(order: ReportJob) -> str:
    """Return the reason that is shown for a node that no run has read; its outcome is INCOMPLETE."""
    if order.kind == "run":
        return NEVER_READ
    return f"not read by any run of this acceptance; rackcheck audit --accept {order.name} adds a run"


def _group(group: Judged, order: ReportJob) -> GroupRow:
    rack = group.node.removeprefix(RACK)
    inside = (name for name, place in order.places.items() if group.node == FLEET or place.rack == rack)
    return GroupRow(
        group.node, group.role, group.outcome, _vector(group, order.profile), tuple(sorted(inside, key=natural)),
        group.reason if group.outcome is Outcome.INCOMPLETE else "",
    )  # fmt: skip


def _vector(judged: Judged, profile: Profile) -> str:
    """Return the verdicts of a node or a group as one letter per rule, in the profile's order of rules."""
    letters = {verdict.rule: LETTERS[verdict.status] for verdict in judged.verdicts}
    return "".join(letters.get(rule.id, OUT) for rule in profile.rules)


def _found(finding: Finding, row: PartFinding, name: str) -> FindingEntry:
    shown = tuple(map(_exhibit, finding.evidence[:SHOWN]))
    more = max(0, len(finding.evidence) - SHOWN)
    leads = row.finding is finding
    parts = tuple(_deviating(node, each) for node, several in row.parts.items() for each in several) if leads else ()
    fix = filled_fix(row if leads else PartFinding(finding), name)
    return FindingEntry(
        finding.rule.id, finding.status, finding.reason, finding.nodes, shown, more, finding.truth, parts,
        "" if leads else row.finding.rule.id, fix if fix != finding.rule.fix else "",
    )  # fmt: skip


def _deviating(node: str, named: NamedPart) -> DeviatingPart:
    part = named.part
    return DeviatingPart(node, part.word, part.name, part.slot, part.pci, part.serial, named.missing, named.on_bmc)


def _exhibit(evidence: Evidence) -> Exhibit:
    observed = f"unknown: {evidence.unknown}" if evidence.status is Status.UNKNOWN else evidence.observed
    return Exhibit(evidence.status, evidence.item, observed, evidence.expected, evidence.source)


def _exemption(stand: Standing) -> Exemption:
    waiver = stand.waiver
    pins = tuple((pin.item, pin.observed) for pin in waiver.pins)
    used = stand.nodes if stand.state is WaiverState.USED else ()
    return Exemption(
        waiver.rule, stand.nodes, pins, waiver.until, waiver.by, waiver.ticket, waiver.reason, waiver.place,
        stand.state.value, stand.detail, used,
    )  # fmt: skip


def _baseline(prints: Mapping[str, Mapping[Key, Print]]) -> Baseline:
    def digest(doc: object) -> str:
        return hashlib.sha256(canonical(doc)).hexdigest()

    def of_class(cls: Class | None) -> dict[str, dict[str, str]]:
        return {
            node: {f"{plane.value} {c.value}": p.digest for (plane, c), p in values.items() if cls in {None, c}}
            for node, values in prints.items()
        }

    whole = of_class(None)
    classes = {c.value: digest(of_class(c)) for c in (Class.IDENTITY, Class.VERSION, Class.CONFIG)}
    every = [p for values in prints.values() for p in values.values()]
    nodes = {node: digest(whole[node]) for node in sorted(whole, key=natural)}
    return Baseline(digest(whole), classes, sum(p.facts for p in every), sum(p.unknown for p in every), nodes)
