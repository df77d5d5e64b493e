"""The findings in the PDF: one block for each rule and verdict, the most severe first."""

from collections.abc import Mapping, Sequence

from rackcheck.evaluate.verdict import Status
from rackcheck.model.profile import Severity
from rackcheck.report.pdf.listing import Json, bounded
from rackcheck.report.pdf.words import prose, text, where
from rackcheck.report.report_model import Dossier, Exhibit, FindingEntry, Gate, fix_of
from rackcheck.report.shared_causes import MARK, Block, blocks
from rackcheck.views.locations import Whole
from rackcheck.views.other_machines import apart, deciding
from rackcheck.views.terminal import verdict_mark

SHOWN = (Status.FAIL, Status.UNKNOWN, Status.WARN, Status.WAIVED)
"""Verdicts that get a block; n/a verdicts are in a table, and passes are counted in the rule catalogue."""

PARTS = 12
"""Maximum number of parts that are listed for one reason."""

BLOCKS = 60
"""Maximum number of blocks in one document."""


def findings(dossier: Dossier) -> Json:
    """Return the findings in blocks; if there are many blocks, each block shows fewer different reasons."""
    gates = {gate.id: gate for gate in dossier.gates}
    severities = list(Severity)
    gathered: dict[object, list[Block]] = {}
    others = dossier.others
    shown = deciding((found for found in dossier.findings if found.status in SHOWN), frozenset(others))
    for block in blocks(shown):
        key = id(block) if block.causes else (block.rules[0], block.status)
        gathered.setdefault(key, []).append(block)
    ordered = sorted(
        gathered.values(),
        key=lambda same: (SHOWN.index(same[0].status), severities.index(same[0].severity(gates))),
    )
    ways, exhibits = (6, 3) if len(ordered) <= 20 else (3, 2) if len(ordered) <= 40 else (1, 1)
    of = dossier.whole
    listed: dict[frozenset[str], Block] = {}

    def show(same: list[Block]) -> Json:
        if same[0].causes:
            before = listed.setdefault(frozenset(same[0].rules), same[0])
            return _shared(same[0], gates, of, "" if before is same[0] else where(before.nodes, of))
        members = [found for block in same for found in block.findings]
        return {
            **_block(gates[members[0].rule], members[0].status, members, of),
            "ways": bounded(members, lambda found: _way(found, of, exhibits), ways),
        }

    aside = {"where": where(others, of, 240), "text": apart(dossier.findings, others).text("findings.csv lists them")}
    return {"findings": sum(len(block.findings) for same in gathered.values() for block in same),
            "aside": [aside] if others else [],
            **bounded(ordered, show, BLOCKS)}  # fmt: skip


def _shared(block: Block, gates: Mapping[str, Gate], of: Whole, before: str) -> Json:
    """Return a block of rules unknown for one cause; `before` are the nodes of an earlier block with the same rules."""
    by: dict[str, list[str]] = {}
    for rule in block.rules:
        by.setdefault(gates[rule].severity.value, []).append(rule)
    return {
        "shared": True,
        "status": block.status.value,
        "rule": text(block.title(gates)),
        "severity": block.severity(gates).value,
        "where": where(block.nodes, of, 240),
        "cause": text(block.cause()),
        "before": before,
        "rules": [] if before else [
            {"severity": s.value, "rules": ", ".join(text(rule) for rule in by[s.value])}
            for s in Severity if s.value in by
        ],
    }  # fmt: skip


def _block(gate: Gate, status: Status, members: Sequence[FindingEntry], of: Whole) -> Json:
    nodes = {node for found in members for node in found.nodes}
    truths = {found.truth for found in members} - {None}
    return {
        "shared": False,
        "status": verdict_mark(status, gate.severity, plain=False).word,
        "rule": text(gate.id),
        "severity": gate.severity.value,
        "title": prose(gate.title),
        "count": len(nodes),
        "where": where(nodes, of, 240),
        "truth": ", ".join(
            sorted(verdict_mark(truth, gate.severity, plain=False).word for truth in truths if truth is not None)
        ),
        "why": prose(gate.why),
        "fix": prose(fix_of(gate, members)),
        "refs": ", ".join(text(ref) for ref in gate.refs),
        "from_memory": gate.from_memory,
        "alone": len(members) == 1,
    }


def _way(found: FindingEntry, of: Whole, exhibits: int) -> Json:
    return {
        "where": where(found.nodes, of),
        "parts": [text(part.text) for part in found.parts[:PARTS]],
        "more_parts": max(0, len(found.parts) - PARTS),
        "under": text(found.under),
        "reason": text(found.reason),
        "evidence": [_exhibit(exhibit, found.reason) for exhibit in found.evidence[:exhibits]],
        "more": found.more + max(0, len(found.evidence) - exhibits),
    }


def _exhibit(exhibit: Exhibit, reason: str) -> Json:
    """Return one piece of evidence; `in_reason` is true if the finding's reason already contains this evidence."""
    observed = exhibit.observed.removeprefix(MARK)
    lost = exhibit.status is Status.UNKNOWN  # the reason then names only the unknown fact
    return {
        "in_reason": exhibit.item in reason and observed in reason and (lost or exhibit.expected in reason),
        "item": text(exhibit.item),
        "observed": text(exhibit.observed, 300),
        "expected": text(exhibit.expected, 300),
        "source": text(exhibit.source.removeprefix("from "), 240),
    }


def not_applicable(dossier: Dossier) -> Json:
    """Return the rules that did not apply, grouped by reason and nodes."""
    of = dossier.whole
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for f in dossier.findings:
        if f.status is Status.NA:
            found.setdefault((f.reason, f.nodes), []).append(f.rule)
    return bounded(
        list(found.items()),
        lambda kv: {"rule": ", ".join(text(rule) for rule in kv[1]), "reason": text(kv[0][0], 300),
                    "where": where(kv[0][1], of)},
        40,
    )  # fmt: skip
