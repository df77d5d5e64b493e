"""Makes the document of one run or of an acceptance's runs: everything that is known, in the model's words. Pure."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rackcheck.bill import Bill as Ordered
from rackcheck.core.compare import differences
from rackcheck.core.event import Judged
from rackcheck.core.fact import Class, Plane
from rackcheck.core.group import Seat
from rackcheck.core.profile import Profile
from rackcheck.core.read import natural
from rackcheck.core.tree import Tree
from rackcheck.core.verdict import Evidence, Outcome, Status, worst
from rackcheck.core.waiver import Standing, State, Waiver, standings
from rackcheck.report.dossier import (
    LETTERS,
    OUT,
    Baseline,
    Brand,
    Change,
    Dossier,
    Exemption,
    Exhibit,
    Found,
    Gate,
    NodeRow,
    Reading,
    Subject,
)
from rackcheck.report.gather import Print, Told, canonical
from rackcheck.report.hardware import compared, parts, versions
from rackcheck.report.outcome import areas, punch, tally, unchecked
from rackcheck.report.settle import Settled, reworked, settle
from rackcheck.report.summary import COUNTED, Finding, findings, group_notes, notes, waiver_notes
from rackcheck.report.wants import wants

SHOWN = 12
"""Pieces of evidence that a finding shows; the run holds the rest."""

NO_BURN_IN = "No burn-in was run: nothing here says how fast these machines are."


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node is, and how it is reached."""

    role: str
    rack: str = ""
    u: int = 0
    height: int = 1
    slot: str = ""
    host: str = ""
    bmc: str = ""


@dataclass(frozen=True)
class Order:
    """What a document is made of beside its readings; `lineage` are the profile and its parents, the oldest first."""

    kind: str
    name: str
    state: str
    profile: Profile
    lineage: tuple[Profile, ...]
    given: Mapping[str, str]
    places: Mapping[str, Place]
    waivers: tuple[Waiver, ...] = ()
    inventory: str = ""
    planes: frozenset[Plane] | None = None
    bill: Ordered | None = None
    brand: Brand = field(default_factory=Brand)
    version: str = ""


def build(readings: Sequence[Told], order: Order) -> Dossier:
    """Make the whole document; readings are the oldest first."""
    profile = order.profile
    rules = {rule.id: rule for rule in profile.rules}
    seats = tuple(Seat(name, place.role, place.rack) for name, place in order.places.items()) if order.planes else ()
    settled = settle(readings, profile.rules, order.planes, seats)
    day = max(told.started.time for told in readings)[:10]
    judged = settled.judged
    unread = tuple(node for node in order.places if node not in settled.latest)
    found, together = (tuple(findings(each, profile.rules)) for each in (judged, settled.groups))
    silent = {(node, plane): why for node, tree in settled.trees.items() for plane, why in tree.silent.items()}
    stand = tuple(standings(order.waivers, {n.node: n.verdicts for n in settled.everyone}, profile.rules, day))
    owners = {
        (s.waiver.rule, node): (s.waiver.by, s.waiver.until) for s in stand if s.state is State.USED for node in s.nodes
    }
    asked = {
        node: {plane for told in readings if node in told.judged for plane in told.started.planes}
        for node in settled.latest
    }
    alone = order.kind == "run"
    outcome = (
        readings[-1].done.outcome
        if alone
        else worst([*(n.outcome for n in settled.everyone), *[Outcome.INCOMPLETE] * bool(unread)])
    )
    cut = alone and readings[-1].done.interrupted
    listed = tuple(parts(settled.trees))
    return Dossier(
        level="full",
        brand=order.brand,
        version=order.version,
        subject=_subject(readings, order),
        tally=tally(judged, unread, rules, outcome, cut=cut, groups=settled.groups),
        unchecked=tuple(unchecked(found, silent, judged, unread, profile, asked, settled.groups)),
        gates=tuple(_gates(settled.everyone, profile)),
        changes=tuple(_changes(order.lineage)),
        sources=tuple(profile.sources[name] for name in sorted(profile.sources)),
        nodes=tuple(_rows(settled, order)),
        findings=tuple(_found(finding) for finding in found if finding.status is not Status.PASS),
        notes=(*group_notes(settled.groups), *notes(judged, profile, settled.groups), *waiver_notes(stand)),
        parts=listed,
        bill=compared(order.bill, listed, settled.trees, unread) if order.bill is not None else None,
        firmware=tuple(versions(settled.trees, unread)),
        compliance=tuple(areas(settled.everyone, profile.rules)),
        performance=NO_BURN_IN,
        exemptions=tuple(_exemption(s) for s in stand),
        punch=tuple(punch(found, silent, owners, judged, unread, cut=cut, together=together)),
        rework=tuple(reworked(readings, profile.rules)),
        baseline=_baseline(settled.prints),
        evidence=tuple(answer for told in readings for answer in told.answers),
    )  # fmt: skip


def _subject(readings: Sequence[Told], order: Order) -> Subject:
    profile = order.profile
    told = tuple(
        Reading(
            t.started.run, t.started.time, t.done.time, t.kind, t.done.outcome, t.done.interrupted, t.started.nodes,
            t.started.planes, t.started.targets, t.started.version, t.operator, t.note,
        )
        for t in readings
    )  # fmt: skip
    return Subject(
        order.kind, order.name, order.state, told, profile.name, profile.version, profile.title, profile.digest,
        profile.lineage, profile.params, order.given, order.inventory,
    )  # fmt: skip


def _gates(judged: Sequence[Judged], profile: Profile) -> Iterator[Gate]:
    counts = {rule.id: dict.fromkeys(COUNTED, 0) for rule in profile.rules}
    for node in judged:
        for verdict in node.verdicts:
            counts[verdict.rule][verdict.status] += 1
    for rule in profile.rules:
        planes = tuple(sorted(plane.value for plane in rule.planes if plane is not Plane.DERIVED))
        yield Gate(
            rule.id, rule.title, rule.severity, rule.phase.value, planes, tuple(wants(rule)), rule.why, rule.fix,
            rule.refs, counts[rule.id], rule.unset, rule.from_memory,
        )  # fmt: skip


def _changes(lineage: Sequence[Profile]) -> Iterator[Change]:
    """Tell what each profile of the lineage changed of its parent's rules."""
    for parent, child in pairwise(lineage):
        before, after = ({rule.id: rule for rule in p.rules} for p in (parent, child))
        for told in differences(before, after):
            yield Change(told.rule, told.lean.value, f"{told.how} ({child.name})")
        for rule, reason in child.dropped.items():
            if rule in before:
                yield Change(rule, "dropped", f"{reason} ({child.name})")


def _rows(settled: Settled, order: Order) -> Iterator[NodeRow]:
    judged = {node.node: node for node in settled.judged}
    for name in sorted({*order.places, *judged}, key=natural):
        place = order.places.get(name, Place(""))
        where = (place.rack, place.u, place.height, place.slot, place.host, place.bmc)
        node = judged.get(name)
        if node is None:
            yield NodeRow(
                name, place.role, Outcome.INCOMPLETE, OUT * len(order.profile.rules), *where, note="never read"
            )
            continue
        letters = {verdict.rule: LETTERS[verdict.status] for verdict in node.verdicts}
        vector = "".join(letters.get(rule.id, OUT) for rule in order.profile.rules)
        tree = settled.trees[name]
        identity = (_text(tree, "node.vendor"), _text(tree, "node.product"), machine_serial(tree))
        run = settled.latest[name]
        yield NodeRow(name, node.role, node.outcome, vector, *where, *identity, run, node.note, node.not_in_scope)


def machine_serial(tree: Tree) -> str:
    """Give the machine's serial as its system tells it, else as its BMC does."""
    told = _text(tree, "node.serial")
    systems = (path for path in tree if path.startswith("bmc.system/") and path.endswith(".serial"))
    return told or next((text for path in systems if (text := _text(tree, path))), "")


def _text(tree: Tree, path: str) -> str:
    leaf = tree.leaves.get(path)
    return leaf.reading if leaf is not None and isinstance(leaf.reading, str) else ""


def _found(finding: Finding) -> Found:
    shown = tuple(map(_exhibit, finding.evidence[:SHOWN]))
    more = max(0, len(finding.evidence) - SHOWN)
    return Found(finding.rule.id, finding.status, finding.reason, finding.nodes, shown, more, finding.truth)


def _exhibit(evidence: Evidence) -> Exhibit:
    observed = f"unknown: {evidence.unknown}" if evidence.status is Status.UNKNOWN else evidence.observed
    return Exhibit(evidence.status, evidence.item, observed, evidence.expected, evidence.source)


def _exemption(stand: Standing) -> Exemption:
    waiver = stand.waiver
    pins = tuple((pin.item, pin.observed) for pin in waiver.pins)
    used = stand.nodes if stand.state is State.USED else ()
    return Exemption(
        waiver.rule, stand.nodes, pins, waiver.until, waiver.by, waiver.ticket, waiver.reason, waiver.place,
        stand.state.value, stand.detail, used,
    )  # fmt: skip


def _baseline(prints: Mapping[str, Mapping[tuple[Plane, Class], Print]]) -> Baseline:
    def digest(doc: object) -> str:
        return hashlib.sha256(canonical(doc)).hexdigest()

    def of_class(cls: Class | None) -> dict[str, dict[str, str]]:
        return {
            node: {f"{plane.value} {c.value}": p.digest for (plane, c), p in told.items() if cls in {None, c}}
            for node, told in prints.items()
        }

    whole = of_class(None)
    classes = {c.value: digest(of_class(c)) for c in (Class.IDENTITY, Class.VERSION, Class.CONFIG)}
    every = [p for told in prints.values() for p in told.values()]
    nodes = {node: digest(whole[node]) for node in sorted(whole, key=natural)}
    return Baseline(digest(whole), classes, sum(p.facts for p in every), sum(p.unknown for p in every), nodes)
