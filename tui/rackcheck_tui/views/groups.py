"""Findings as entries: the same verdict said once for all nodes that share it, the worst first."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rackcheck.core.fold import fold
from rackcheck.core.verdict import Evidence, Status
from rackcheck.report.causes import Cause, causes
from rackcheck.report.signs import Signs
from rackcheck.report.summary import Finding, Summary
from rackcheck.report.terminal import STYLES, Line
from rackcheck_tui.entries import Entry
from rackcheck_tui.words import folded, labelled

SHOWN = 20
"""Details of one cause that are told."""


@dataclass(frozen=True, slots=True)
class _Row:
    """What a line says; one without a rule's id gives its room to the words."""

    status: Status
    nodes: tuple[str, ...]
    words: str
    id: str = ""
    severity: str = ""

    def where(self, total: int) -> str:
        """Say how many nodes of all, and which; nothing where there is but one."""
        return f"{len(self.nodes):,} of {total:,}: {_folded(self.nodes)}" if total > 1 else ""


@lru_cache(maxsize=256)
def _folded(nodes: tuple[str, ...]) -> str:
    """Fold once what is written with every key: a thousand names take a millisecond."""
    return fold(nodes)


@dataclass(frozen=True, slots=True)
class _Columns:
    """How many nodes there are, and how wide the widest id, title and place are."""

    total: int
    id: int
    title: int
    where: int


def groups(summary: Summary, signs: Signs) -> list[Entry]:
    """Give an entry for each cause that makes many rules unknown, and for each other finding: the worst first."""
    total = len(summary.judged)
    common, single = causes(summary.findings, summary.silent)
    told = [(_found(finding), finding) for finding in single]
    fails = sum(finding.status is Status.FAIL for finding in single)
    shared = [(_shared(cause), cause) for cause in common]
    columns = _Columns(
        total,
        min(max((len(row.id) for row, _ in told), default=0), 28),
        max((len(row.words) for row, _ in told), default=0),
        max((len(row.where(total)) for row, _ in (*told, *shared)), default=0),
    )
    entries = [_finding_entry(row, finding, columns, signs) for row, finding in told]
    return [*entries[:fails], *(_cause_entry(row, cause, columns, signs) for row, cause in shared), *entries[fails:]]


def _found(finding: Finding) -> _Row:
    rule = finding.rule
    return _Row(finding.status, finding.nodes, rule.title, rule.id, rule.severity.value)


def _shared(cause: Cause) -> _Row:
    detail = f": {cause.said[0]}" if len(cause.details) == 1 and cause.said[0] else ""
    return _Row(Status.UNKNOWN, cause.nodes, f"{len(cause.rules):,} rules: {cause.unknown.reason.value}{detail}")


def _finding_entry(row: _Row, finding: Finding, columns: _Columns, signs: Signs) -> Entry:
    return Entry(
        frozenset({row.status}),
        lambda: " ".join((row.status.value, row.severity, row.id, row.words, finding.reason, *row.nodes)),
        lambda width: _line(row, columns, signs, width),
        lambda width: list(_details(row, finding, columns.total, signs, width)),
    )


def _cause_entry(row: _Row, cause: Cause, columns: _Columns, signs: Signs) -> Entry:
    return Entry(
        frozenset({row.status}),
        lambda: " ".join((row.status.value, row.words, *cause.details, *cause.rules, *row.nodes)),
        lambda width: _line(row, columns, signs, width),
        lambda width: list(_cause(row, cause, columns.total, signs, width)),
    )


def _line(row: _Row, columns: _Columns, signs: Signs, width: int) -> Line:
    head = f"{row.severity:<9}", f"{signs.fit(row.id, columns.id)} "
    room = max(width - 11 - sum(map(len, head)), 0)
    side = min(columns.where, max(room - columns.title - 1, room // 2))
    words = max(room - side - 1 if side else room, 0)
    if not row.id:
        head, words = ("", ""), words + sum(map(len, head))
    return Line((
        (f" {signs.status(row.status)} {row.status.value.upper():<7} ", STYLES[row.status]),
        (head[0], "dim"),
        (head[1], "bold"),
        (signs.fit(row.words, words), ""),
        (f" {signs.fit(row.where(columns.total), side)}" if side else "", "cyan"),
    ))  # fmt: skip


def _details(row: _Row, finding: Finding, total: int, signs: Signs, width: int) -> Iterator[Line]:
    status, rule = finding.status, finding.rule
    head = f" {signs.status(status)} {status.value.upper()}"
    truth = f", {finding.truth.value} without waivers" if finding.truth is not None else ""
    yield Line(((head, STYLES[status]), (f"  {rule.id}", "bold"), (f"  ({rule.severity.value}{truth})", "dim")))
    yield from labelled("", rule.title, signs, width, "bold")
    yield from folded("nodes", row.where(total), signs, width, "cyan")
    for label, text in (("reason", finding.reason), ("fix", rule.fix), ("why", rule.why)):
        yield from labelled(label, text, signs, width)
    yield from evidence(finding.evidence, signs, width, len(finding.nodes))
    yield from labelled("refs", ", ".join(rule.refs), signs, width, "dim")


def _cause(row: _Row, cause: Cause, total: int, signs: Signs, width: int) -> Iterator[Line]:
    head = f" {signs.status(Status.UNKNOWN)} UNKNOWN"
    yield Line(((head, STYLES[Status.UNKNOWN]), (f"  {len(cause.rules):,} rules, for one cause", "bold")))
    yield from folded("nodes", row.where(total), signs, width, "cyan")
    yield from labelled("cause", cause.unknown.reason.value, signs, width)
    for detail in cause.said[:SHOWN]:
        yield from labelled("", detail, signs, width)
    if len(cause.details) > SHOWN:
        yield from labelled("", f"and {len(cause.details) - SHOWN:,} more like these", signs, width)
    yield from labelled("rules", ", ".join(cause.rules), signs, width, "dim")


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
        yield from labelled("  source  ", piece.source, signs, width, "dim")
