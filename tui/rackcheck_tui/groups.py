"""Findings as entries: the same verdict said once for all nodes that share it, the worst first."""

from collections.abc import Iterator

from rackcheck.core.verdict import Evidence
from rackcheck.report.summary import Finding, Summary
from rackcheck.report.terminal import STYLES, Line
from rackcheck_tui.entries import Entry
from rackcheck_tui.signs import Signs
from rackcheck_tui.words import labelled


def groups(summary: Summary, signs: Signs) -> list[Entry]:
    """Give an entry for each finding, in the summary's order."""
    total = len(summary.judged)
    ids = min(max((len(f.rule.id) for f in summary.findings), default=0), 28)
    return [_entry(finding, total, ids, signs) for finding in summary.findings]


def _entry(finding: Finding, total: int, ids: int, signs: Signs) -> Entry:
    words = (finding.status.value, finding.rule.severity.value, finding.rule.id, finding.rule.title, finding.reason)
    return Entry(
        frozenset({finding.status}),
        lambda: " ".join((*words, *finding.nodes)),
        lambda width: _line(finding, total, ids, signs, width),
        lambda width: list(_details(finding, total, signs, width)),
    )


def _line(finding: Finding, total: int, ids: int, signs: Signs, width: int) -> Line:
    status, rule = finding.status, finding.rule
    where = f"{len(finding.nodes):,} of {total:,}: {finding.where}" if total > 1 else ""
    room = width - 1 - 10 - 9 - ids - 1
    side = min(len(where) + 1, max(room // 2, 18)) if where else 0
    return Line((
        (f" {signs.status(status)} {status.value.upper():<8}", STYLES[status]),
        (f"{rule.severity.value:<9}", "dim"),
        (signs.fit(rule.id, ids) + " ", "bold"),
        (signs.fit(rule.title, max(room - side, 0)), ""),
        (" " + signs.fit(where, side - 1) if where else "", "cyan"),
    ))  # fmt: skip


def _details(finding: Finding, total: int, signs: Signs, width: int) -> Iterator[Line]:
    status, rule = finding.status, finding.rule
    head = f" {signs.status(status)} {status.value.upper()}"
    yield Line(((head, STYLES[status]), (f"  {rule.id}", "bold"), (f"  ({rule.severity.value})", "dim")))
    yield from labelled("", rule.title, signs, width, "bold")
    if total > 1:
        yield from labelled("nodes", f"{len(finding.nodes):,} of {total:,}: {finding.where}", signs, width, "cyan")
    for label, text in (("reason", finding.reason), ("fix", rule.fix), ("why", rule.why)):
        yield from labelled(label, text, signs, width)
    yield from evidence(finding.evidence, signs, width, len(finding.nodes))
    yield from labelled("refs", ", ".join(rule.refs), signs, width, "dim")


def evidence(found: tuple[Evidence, ...], signs: Signs, width: int, nodes: int) -> Iterator[Line]:
    """Write what a verdict rests on: what was seen, what was wanted, and where it was read."""
    if found:
        whose = "evidence (the first node's)" if nodes > 1 else "evidence"
        yield Line(((f" {whose}", "dim"),))
    for piece in found:
        seen = f"unknown: {piece.unknown}" if piece.unknown is not None else piece.observed or "nothing"
        sign = f"   {signs.status(piece.status)} {piece.status.value}"
        yield Line(((sign, STYLES[piece.status]), (f"  {signs.text(piece.item)}", "bold")))
        yield from labelled("  observed", seen, signs, width)
        yield from labelled("  expected", piece.expected, signs, width)
        yield from labelled("  source", piece.source, signs, width, "dim")
