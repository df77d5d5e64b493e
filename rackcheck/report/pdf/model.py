"""Builds the template's input: the document as one JSON object of texts and numbers, section by section.

The template contains the surrounding text and the layout. This module chooses what is shown, how it is grouped, and
where lists are cut. Every cut list has the number of omitted entries, so that no partial list looks complete.
"""

from collections.abc import Iterable, Sequence

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.fact import clean
from rackcheck.model.profile import Scope, Severity
from rackcheck.report.hardware_groups import Likeness, likenesses, together
from rackcheck.report.pdf import closing
from rackcheck.report.pdf.burn import burn, simulated
from rackcheck.report.pdf.findings import findings, not_applicable
from rackcheck.report.pdf.hardware import bill, firmware, inventory
from rackcheck.report.pdf.listing import Json, bounded, counts
from rackcheck.report.pdf.words import prose, text, where
from rackcheck.report.redacted_parts import MISSING, missing
from rackcheck.report.report_model import CountedRun, Dossier, Gate
from rackcheck.report.shared_causes import gaps, in_short
from rackcheck.report.waiver_counts import in_force
from rackcheck.views.locations import Whole
from rackcheck.views.reasons import LONGEST, MOST, is_alone, minor_note
from rackcheck.views.steps import Step, rise_text
from rackcheck.views.terminal import verdict_mark

PATTERNS = 24
"""Maximum number of groups of nodes with the same verdicts; the worst are first."""

COMMON = 8
"""Number of the largest groups of nodes with which the list begins, if it does not show all groups."""


def model(dossier: Dossier, digest: str) -> Json:
    """Return everything the template shows; `digest` is the digest of the record, `report.json`."""
    of = dossier.whole
    return {
        "name": clean(dossier.subject.name, 100),
        "level": text(dossier.level),
        "digest": digest,
        "token": token(dossier, digest),
        "cover": _cover(dossier),
        "absent": {what: missing(dossier.level, what) for what in MISSING},
        "verdict": _verdict(dossier, of),
        "steps": [_step(step, of) for step in dossier.steps],
        "glance": _glance(dossier, of),
        "scope": _scope(dossier, of),
        "gates": _gates(dossier),
        "inventory": inventory(dossier),
        "bill": bill(dossier),
        "firmware": firmware(dossier),
        "compliance": [
            {"plane": text(a.plane), "area": text(a.area), "rules": a.rules, "counts": counts(a.counts)}
            for a in dossier.compliance
        ],
        "findings": findings(dossier),
        "not_applicable": not_applicable(dossier),
        "performance": prose(dossier.performance),
        "burn": burn(dossier, of),
        "simulated": simulated(dossier),
        "exceptions": closing.exceptions(dossier, of),
        "punch": closing.punch(dossier, of),
        "rework": closing.rework(dossier, of),
        "baseline": closing.baseline(dossier),
        "parties": [{"role": text(p.role, 40), "name": text(p.name, 120)} for p in dossier.brand.parties],
        "evidence": closing.evidence(dossier, of),
        "catalogue": [_entry(gate) for gate in dossier.gates],
        "sources": [
            {"id": text(s.id), "title": prose(s.title), "section": prose(s.section), "publisher": prose(s.publisher),
             "date": text(s.date), "confidence": prose(s.confidence)}
            for s in dossier.sources
        ],
    }  # fmt: skip


def token(dossier: Dossier, digest: str) -> str:
    """Return the record's identification on the signature page, as text and as QR code."""
    return f"rackcheck:{clean(dossier.subject.name, 100)}:{dossier.level}:sha256:{digest}"


def _cover(dossier: Dossier) -> Json:
    brand, subject = dossier.brand, dossier.subject
    return {
        "title": text(brand.title, 200) or dossier.title,
        "kind": text(subject.kind),
        "record": dossier.title.removesuffix(" report"),
        "state": text(subject.state),
        "time": text(subject.time),
        "integrator": text(brand.integrator),
        "customer": text(brand.customer),
        "site": text(brand.site),
        "hall": text(brand.hall),
        "contract": text(brand.contract),
        "revision": text(brand.revision),
        "footer": text(brand.footer, 120),
        "profile": text(f"{subject.profile} {subject.profile_version}"),
        "profile_title": prose(subject.profile_title),
        "nodes": len(dossier.nodes),
        "rules": len(dossier.gates),
    }


def _verdict(dossier: Dossier, of: Whole) -> Json:
    tally = dossier.tally
    gone = gaps(dossier.unchecked)
    shorts = in_short(gone)
    return {
        "outcome": tally.outcome.value,
        "whys": bounded(dossier.reasons, lambda one: _why(dossier, one, of), MOST),
        "why": text(dossier.reason, LONGEST),
        "minor": minor_note(dossier.tally.minor_failures),
        "interrupted": tally.interrupted,
        "planes": " and ".join(text(plane) for plane in dossier.subject.planes),
        "passed": len(tally.nodes.get(Outcome.PASS, ())),
        "groups": _groups(dossier, of),
        "of": of.nodes,
        "waivers": in_force(dossier.exemptions),
        "gaps": [text(short, 80) for short in shorts[:4]],
        "more_gaps": max(0, len(shorts) - 4),
        "counts": counts(tally.counts),
        "total": tally.total,
        "nodes": [
            {"outcome": outcome.value, "count": len(tally.nodes.get(outcome, ())), "of": of.nodes,
             "where": where(tally.nodes[outcome], of, 120) if tally.nodes.get(outcome) else ""}
            for outcome in (Outcome.FAIL, Outcome.INCOMPLETE, Outcome.PASS)
        ],
        "severe": [{"severity": s.value, "counts": counts(found)} for s, found in tally.severe.items()],
        "unchecked": bounded(
            gone,
            lambda gap: {"kind": text(gap.kind), "what": text(gap.what), "why": text(gap.why), "count": gap.counted,
                         "where": where(gap.nodes, of) if gap.nodes else ""},
        ),
    }  # fmt: skip


def _step(step: Step, of: Whole) -> Json:
    """Return a step with what is left to do and the counters that rose, each as a text with its nodes."""
    rows = [(why, nodes) for why, nodes in step.left] + [(rise_text(rise), rise.nodes) for rise in step.rises]
    return {
        "name": text(step.name), "state": step.state, "declined": prose(step.declined),
        **bounded(rows, lambda row: {"what": text(row[0], 300), "where": where(row[1], of)}),
    }  # fmt: skip


def _why(dossier: Dossier, one: tuple[str, tuple[str, ...]], of: Whole) -> Json:
    """Return one reason why nodes are INCOMPLETE, and the nodes; a document's only node is not named."""
    reason, names = one
    return {"where": "" if is_alone(dossier.reasons, of) else where(names, of, 120), "reason": text(reason, LONGEST)}


def _groups(dossier: Dossier, of: Whole) -> Json:
    """Return the results of racks and the fleet; results that are not PASS are first."""
    racks = [group for group in dossier.groups if group.scope == Scope.RACK.value]
    unwell = [
        (outcome, [group.name for group in dossier.groups if group.outcome is outcome])
        for outcome in (Outcome.FAIL, Outcome.INCOMPLETE)
    ]
    return {
        "racks": len(racks),
        "passed": sum(group.outcome is Outcome.PASS for group in racks),
        "unwell": [{"outcome": o.value, "where": where(names, of, 120)} for o, names in unwell if names],
        **bounded(
            together(dossier),
            lambda one: {"outcome": one.outcome.value, "where": where(one.names, of), "nodes": one.nodes,
                         "rules": _not_well(one.rules, dossier)},
        ),
    }  # fmt: skip


def _not_well(rules: Sequence[tuple[Status, Sequence[str]]], dossier: Dossier) -> list[Json]:
    """Return the rules that do not pass by their marks; failing rules that are minor are apart."""
    severities = {gate.id: gate.severity for gate in dossier.gates}
    by: dict[str, list[str]] = {}
    for status, some in rules:
        for rule in some:
            by.setdefault(verdict_mark(status, severities[rule], plain=False).word, []).append(rule)
    return [{"status": word, "count": len(some), "rules": _few(some)} for word, some in by.items()]


def _glance(dossier: Dossier, of: Whole) -> Json:
    """Return the groups of nodes with the same verdicts, and the rules that do not pass on them."""
    groups = likenesses(dossier)

    def show(group: Likeness) -> Json:
        return {
            "outcome": group.outcome.value,
            "where": where(group.nodes, of),
            "rules": _not_well(group.rules, dossier),
            "reason": text(group.reason, LONGEST),
        }

    # If there are too many groups, the largest are shown (the common state) and the smallest (the outliers).
    large = sorted(groups, key=lambda group: -len(group.nodes))[:COMMON]
    shown = groups if len(groups) <= PATTERNS else (*large, *(group for group in groups if group not in large))
    return bounded(shown, show, PATTERNS)


def _few(rules: Sequence[str], most: int = 4) -> str:
    more = f", and {len(rules) - most} more" if len(rules) > most else ""
    return ", ".join(text(rule) for rule in rules[:most]) + more


def _scope(dossier: Dossier, of: Whole) -> Json:
    subject = dossier.subject
    return {
        "version": text(dossier.version),
        "planes": ", ".join(text(plane) for plane in subject.planes),
        "digest": text(subject.digest),
        "inventory": text(subject.inventory),
        "operators": ", ".join(_once(text(reading.operator) for reading in subject.readings)),
        "runs": bounded(subject.readings, lambda reading: _run(reading, of)),
        "notes": bounded(dossier.notes, lambda note: {"text": text(note)}, 30),
    }


def _run(reading: CountedRun, of: Whole) -> Json:
    return {
        "run": text(reading.run),
        "time": text(reading.time),
        "ended": text(reading.ended),
        "kind": text(reading.kind),
        "outcome": reading.outcome.value,
        "interrupted": reading.interrupted,
        "where": where(reading.nodes, of),
        "planes": ", ".join(text(plane) for plane in reading.planes),
        "targets": text(reading.targets),
        "version": text(reading.version),
        "operator": text(reading.operator),
        "note": text(reading.note),
    }


def _gates(dossier: Dossier) -> Json:
    subject = dossier.subject
    kinds = _once(change.kind for change in dossier.changes)
    return {
        "lineage": [text(parent) for parent in subject.lineage],
        "params": [
            {"name": text(name), "value": text(value or ""), "set": name in subject.given, "unset": value is None}
            for name, value in subject.params.items()
        ],
        "changed": [{"kind": text(k), "count": sum(c.kind == k for c in dossier.changes)} for k in kinds],
        "changes": bounded(
            dossier.changes, lambda c: {"rule": text(c.rule), "kind": text(c.kind), "how": prose(c.how)}, 200
        ),
        "rules": len(dossier.gates),
        "severities": [_severity(severity, dossier.gates) for severity in Severity],
        "unset": sum(bool(g.unset) for g in dossier.gates),
    }  # fmt: skip


def _severity(severity: Severity, gates: Sequence[Gate]) -> Json:
    of = [gate for gate in gates if gate.severity is severity]
    return {
        "severity": severity.value,
        "decides": severity.decides,
        "rules": len(of),
        "counts": counts({status: sum(gate.counts.get(status, 0) for gate in of) for status in Status}),
    }


def _entry(gate: Gate) -> Json:
    """Return a rule as it was agreed on, with its rationale."""
    return {
        "id": text(gate.id),
        "title": prose(gate.title),
        "severity": gate.severity.value,
        "phase": text(gate.phase),
        "planes": ", ".join(text(plane) for plane in gate.planes),
        "scope": "" if gate.scope == Scope.NODE.value else text(gate.scope),
        "expects": "; ".join(prose(expected, 300) for expected in gate.expects),
        "unset": ", ".join(text(name) for name in gate.unset),
        "passed": gate.counts.get(Status.PASS, 0),
        "total": sum(gate.counts.values()),
        "why": prose(gate.why),
        "fix": prose(gate.fix),
        "refs": ", ".join(text(ref) for ref in gate.refs),
        "from_memory": gate.from_memory,
    }


def _once(words: Iterable[str]) -> list[str]:
    return [word for word in dict.fromkeys(words) if word]
