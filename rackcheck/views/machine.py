"""Formats a run as one JSON document; the same run always results in the same bytes."""

import json
from collections.abc import Iterator, Mapping
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
    # Nodes with the same facts share a verdict; they then share its JSON form, and `text` encodes it once.
    forms: dict[int, dict[str, Any]] = {}

    def verdicts(judged: Judged) -> list[dict[str, Any]]:
        return [forms.get(id(v)) or forms.setdefault(id(v), verdict_json(v)) for v in judged.verdicts]

    groups = {
        group.node: {
            "outcome": group.outcome.value,
            **_why(group),
            "verdicts": verdicts(group),
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
                "verdicts": verdicts(node),
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
    """Serialize a JSON document; the text contains no terminal control characters, and invalid bytes are escaped.

    Objects that contain others are indented, and each entry of a list of objects is one line: `grep` finds a verdict
    whole, and the encoder of Python's library is several times faster on a line than on indented text.
    """
    writer = _Writer()
    lines = "".join(writer.fields(doc, "\n") if isinstance(doc, dict) and doc else writer.value(doc, "\n")).split("\n")
    return "\n".join(line if line.isprintable() else _printable(line) for line in lines)


_json = json.JSONEncoder(ensure_ascii=False).encode

Scalar = str | int | float | None


class _Writer:
    """Writes one document in pieces; an entry that is in several lists is encoded once."""

    def __init__(self) -> None:
        self._encoded: dict[int, str] = {}

    def value(self, value: object, line: str) -> Iterator[str]:
        """Yield a value; `line` begins a line with the indentation of the value."""
        match value:
            case dict() if not all(map(_is_plain, value.values())):
                yield from self.fields(value, line)
            case list() | tuple() if not _is_plain(value):
                opening = "["
                for entry in value:
                    yield f"{opening}{line}  {self._entry(entry)}"
                    opening = ","
                yield f"{line}]"
            case _:
                yield _json(value)

    def fields(self, fields: Mapping[Any, object], line: str) -> Iterator[str]:
        """Yield an object with each field on a line of its own."""
        opening = "{"
        for name, value in fields.items():
            yield f"{opening}{line}  {_json(str(name))}: "
            yield from self.value(value, f"{line}  ")
            opening = ","
        yield f"{line}}}"

    def _entry(self, entry: object) -> str:
        known = self._encoded.get(id(entry))
        if known is None:
            known = self._encoded[id(entry)] = _json(entry)
        return known


def _is_plain(value: object) -> bool:
    """Whether a value is on one line: it contains no object."""
    if isinstance(value, list | tuple):
        return all(isinstance(entry, Scalar) for entry in value)
    return isinstance(value, Scalar)


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)
