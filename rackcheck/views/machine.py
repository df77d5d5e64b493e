"""Formats a run as one JSON document; the same run always results in the same bytes."""

import json
from typing import Any

from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.fit import Match
from rackcheck.run.event import Judged, verdict_json
from rackcheck.views.filled_fix import filled_fix
from rackcheck.views.part_findings import PartFinding, by_part
from rackcheck.views.summary import Summary

FORMAT = 1


def document(summary: Summary) -> dict[str, Any]:
    """Return the JSON document of a judged run."""
    started = summary.started
    rows = by_part(summary.findings, summary.named)
    leads = {id(row.finding): row for row in rows}
    under = {id(other): row.finding.rule.id for row in rows for other in row.also}
    groups = {
        group.node: {
            "outcome": group.outcome.value,
            **_why(group),
            "verdicts": [verdict_json(v) for v in group.verdicts],
        }
        for group in summary.groups
    }
    return {
        "rackcheck": FORMAT,
        "run": started.run,
        "time": started.time,
        "version": started.version,
        "profile": {"name": started.profile, "version": started.profile_version, "digest": started.digest},
        "targets": started.targets,
        "planes": list(started.planes),
        "outcome": summary.done.outcome.value,
        **({"reason": summary.reason} if summary.reason else {}),
        "interrupted": summary.done.interrupted,
        **({"simulated": True} if summary.simulated else {}),
        "counts": {status.value: count for status, count in summary.counts.items()},
        "total": summary.total,
        "notes": list(summary.notes),
        "findings": [
            {"rule": f.rule.id, "status": f.status.value, "severity": f.rule.severity.value, "title": f.rule.title,
             "scope": f.rule.scope.value, "nodes": list(f.nodes), "folded": f.where, "reason": f.reason,
             "why": f.rule.why, "fix": filled_fix(leads.get(id(f), PartFinding(f)), started.run),
             "refs": list(f.rule.refs)}
            | ({"truth": f.truth.value} if f.truth is not None else {})
            | (leads[id(f)].json() if id(f) in leads and leads[id(f)].parts else {})
            | ({"under": under[id(f)]} if id(f) in under else {})
            for f in summary.findings if f.reason
        ],
        "waivers": [
            {"rule": s.waiver.rule, "nodes": list(s.nodes), "state": s.state.value, "detail": s.detail,
             "until": s.waiver.until, "by": s.waiver.by, "ticket": s.waiver.ticket, "reason": s.waiver.reason,
             "place": s.waiver.place}
            for s in summary.waivers
        ],
        "nodes": {
            node.node: {
                "role": node.role,
                "outcome": node.outcome.value,
                **_why(node),
                "not_in_scope": node.not_in_scope,
                "verdicts": [verdict_json(v) for v in node.verdicts],
            }
            for node in summary.judged
        },
    } | ({"groups": groups} if groups else {})  # fmt: skip


def _why(judged: Judged) -> dict[str, Any]:
    """Return the JSON fields `reason` (for an INCOMPLETE node, rack or fleet) and `fit` (whether the profile fits)."""
    reason = {"reason": judged.reason} if judged.outcome is Outcome.INCOMPLETE and judged.reason else {}
    if judged.fit.match is Match.NOT_STATED:
        return reason
    words = {"words": judged.fit.words} if judged.fit.words else {}
    return reason | {"fit": {"match": judged.fit.match.value, **words}}


def text(doc: object) -> str:
    """Serialize a JSON document; the text contains no terminal control characters, and invalid bytes are escaped."""
    lines = json.dumps(doc, indent=2, ensure_ascii=False).split("\n")
    return "\n".join(line if line.isprintable() else _printable(line) for line in lines)


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)
