"""Nodes as entries: what each comes to, the worst first, with its own verdicts."""

from collections import Counter
from collections.abc import Iterator, Mapping

from rackcheck.core.event import Judged
from rackcheck.core.profile import Rule
from rackcheck.core.read import natural
from rackcheck.core.verdict import Outcome, Status
from rackcheck.report.signs import OUTCOME, Signs
from rackcheck.report.summary import ORDER, Summary, several
from rackcheck.report.terminal import OUTCOMES, STYLES, Line
from rackcheck_tui.entries import Entry
from rackcheck_tui.words import labelled

WORST = (Outcome.FAIL, Outcome.INCOMPLETE, Outcome.PASS)
TOLD = (Status.FAIL, Status.UNKNOWN, Status.WARN, Status.WAIVED)


def nodes(summary: Summary, signs: Signs) -> list[Entry]:
    """Give an entry for each judged node: by outcome, then by how much is wrong, then by name."""
    rules = {finding.rule.id: finding.rule for finding in summary.findings}
    widest = min(max((len(node.node) for node in summary.judged), default=0), 32)
    counted = [(node, Counter(v.status for v in node.verdicts)) for node in summary.judged]
    ranked = sorted(counted, key=lambda n: (WORST.index(n[0].outcome), *(-n[1][s] for s in TOLD), natural(n[0].node)))
    return [_entry(node, count, rules, widest, signs) for node, count in ranked]


def _entry(node: Judged, count: Counter[Status], rules: Mapping[str, Rule], widest: int, signs: Signs) -> Entry:
    return Entry(
        frozenset(count),
        lambda: f"{node.node} {node.role} {node.outcome.value} {node.note}",
        lambda width: _line(node, count, widest, signs, width),
        lambda width: list(_details(node, rules, signs, width)),
    )


def _line(node: Judged, count: Counter[Status], widest: int, signs: Signs, width: int) -> Line:
    told = [
        (f"{signs.status(s)} {count[s]} {s.value}  ", STYLES[s]) for s in (*TOLD, Status.PASS, Status.NA) if count[s]
    ]
    room = max(width - 14 - widest - 2, 0)
    kept: list[tuple[str, str]] = []
    for words, style in told:
        kept.append((signs.fit(words, min(len(words), room)), style))
        room = max(room - len(words), 0)
    return Line((
        (f" {signs.status(OUTCOME[node.outcome])} {node.outcome.value:<11}", OUTCOMES[node.outcome]),
        (signs.fit(node.node, widest) + "  ", "bold"),
        *kept,
        (signs.fit(node.role, min(len(node.role), room)), "dim"),
        (" " * (room - min(len(node.role), room)), ""),
    ))  # fmt: skip


def _details(node: Judged, rules: Mapping[str, Rule], signs: Signs, width: int) -> Iterator[Line]:
    head = f" {signs.status(OUTCOME[node.outcome])} {node.outcome.value}"
    scope = f"; {several(node.not_in_scope, 'rule')} not in scope" if node.not_in_scope else ""
    yield Line(
        ((head, OUTCOMES[node.outcome]), (f"  {signs.text(node.node)}", "bold"), (f"  {node.role}{scope}", "dim"))
    )
    yield from labelled("note", node.note, signs, width)
    for status in TOLD:
        for verdict in (v for v in node.verdicts if v.status is status):
            rule = rules[verdict.rule]
            sign = f"   {signs.status(status)} {status.value.upper():<8}"
            yield Line(((sign, STYLES[status]), (verdict.rule, "bold"), (f"  ({rule.severity.value})", "dim")))
            for text in (rule.title, verdict.reason):
                yield from labelled("", text, signs, width)
    for status in ORDER[-2:]:
        found = [v.rule for v in node.verdicts if v.status is status]
        if found:
            yield from labelled(status.value, f"{len(found)}: {', '.join(found)}", signs, width, "dim")
