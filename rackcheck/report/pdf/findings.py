"""What was found, one block for a rule and its verdict, the most severe first."""

from collections.abc import Sequence

from rackcheck.core.profile import Severity
from rackcheck.core.verdict import Status
from rackcheck.report.dossier import Dossier, Exhibit, Found, Gate
from rackcheck.report.pdf.listing import Json, bounded
from rackcheck.report.pdf.words import prose, text, where

SHOWN = (Status.FAIL, Status.UNKNOWN, Status.WARN, Status.WAIVED)
"""Verdicts that get a block; what does not apply is a table, what passed is counted beside its gate."""

BLOCKS = 60
"""Blocks in one document, whatever was found."""


def findings(dossier: Dossier) -> Json:
    """Give the blocks; the more there are, the fewer ways of failing each of them shows."""
    gates = {gate.id: gate for gate in dossier.gates}
    severities = list(Severity)
    gathered: dict[tuple[str, Status], list[Found]] = {}
    for found in dossier.findings:
        if found.status in SHOWN:
            gathered.setdefault((found.rule, found.status), []).append(found)
    ordered = sorted(
        gathered.items(),
        key=lambda block: (SHOWN.index(block[0][1]), severities.index(gates[block[0][0]].severity)),
    )
    ways, exhibits = (6, 3) if len(ordered) <= 20 else (3, 2) if len(ordered) <= 40 else (1, 1)
    total = len(dossier.nodes)

    def show(block: tuple[tuple[str, Status], list[Found]]) -> Json:
        (rule, status), members = block
        return {
            **_block(gates[rule], status, members, total),
            "ways": bounded(members, lambda found: _way(found, total, exhibits), ways),
        }

    return bounded(ordered, show, BLOCKS)


def _block(gate: Gate, status: Status, members: Sequence[Found], total: int) -> Json:
    nodes = {node for found in members for node in found.nodes}
    truths = {found.truth for found in members} - {None}
    return {
        "status": status.value,
        "rule": text(gate.id),
        "severity": gate.severity.value,
        "title": prose(gate.title),
        "count": len(nodes),
        "where": where(nodes, total, 240),
        "truth": ", ".join(sorted(truth.value for truth in truths if truth is not None)),
        "why": prose(gate.why),
        "fix": prose(gate.fix),
        "from_memory": gate.from_memory,
        "alone": len(members) == 1,
    }


def _way(found: Found, total: int, exhibits: int) -> Json:
    return {
        "where": where(found.nodes, total),
        "reason": text(found.reason),
        "evidence": [_exhibit(exhibit) for exhibit in found.evidence[:exhibits]],
        "more": found.more + max(0, len(found.evidence) - exhibits),
    }


def _exhibit(exhibit: Exhibit) -> Json:
    return {
        "item": text(exhibit.item),
        "observed": text(exhibit.observed, 300),
        "expected": text(exhibit.expected, 300),
        "source": text(exhibit.source, 240),
    }


def not_applicable(dossier: Dossier) -> Json:
    """Give the rules that did not apply, each with its reason."""
    total = len(dossier.nodes)
    found = [f for f in dossier.findings if f.status is Status.NA]
    return bounded(
        found, lambda f: {"rule": text(f.rule), "reason": text(f.reason, 300), "where": where(f.nodes, total)}, 40
    )
