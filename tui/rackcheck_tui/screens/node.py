"""One node: its rules, worst first, each with its actual value; enter shows the evidence."""

from collections.abc import Iterator, Mapping

from rackcheck.evaluate.verdict import Outcome, Status, Verdict
from rackcheck.model.fit import Match
from rackcheck.model.profile import Rule
from rackcheck.run.event import Judged
from rackcheck.views.other_machines import OtherMachines
from rackcheck.views.reasons import LONGEST
from rackcheck.views.summary import ORDER, several
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.filtering import kept_rules
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.words import labelled

QUIET = frozenset({Status.PASS, Status.NA})


def shown(ctx: ViewContext, place: ViewState) -> ViewContent:
    """Show the verdicts of a node, or of a rack that was judged as a whole."""
    name = place.about[0] if place.about else ""
    judged = ctx.board.judged.get(name)
    if judged is None:
        missing = "not judged yet" if ctx.board.running and name in ctx.board.nodes else "not judged in this run"
        return ViewContent(ListEntries(()), f"node {name}", f"{name}: {missing}")
    rules = {rule.id: rule for rule in ctx.desk.profile.rules}
    severities = list(dict.fromkeys(type(rule.severity) for rule in rules.values()))
    order = [s.value for s in severities[0]] if severities else []
    folded = not ctx.every and judged.fit.match is Match.OTHER
    verdicts = [v for v in judged.verdicts if ctx.every or (v.status not in QUIET and not folded)]
    found, left_out = kept_rules(ctx, judged, verdicts, rules)
    found.sort(key=lambda v: (ORDER.index(v.status), order.index(rules[v.rule].severity.value)))
    entries = [_entry(ctx, judged, verdict, rules) for verdict in found]
    above = (Line(((" Why: ", "bold"), (ctx.signs.text(judged.reason, LONGEST), ""))),) if why(judged) else ()
    return ViewContent(
        ListEntries(entries, lambda width: _head(ctx, width)), _words(ctx, judged), _empty(ctx, judged), left_out, above
    )  # fmt: skip


def why(judged: Judged) -> str:
    """Return why a node is INCOMPLETE; empty if it is not."""
    return judged.reason if judged.outcome is Outcome.INCOMPLETE else ""


def aside(judged: Judged, where: str) -> str:
    """Return a line with the numbers of failing and unknown rules if the profile is not for this node, else ''."""
    if judged.fit.match is not Match.OTHER:
        return ""
    counts = [sum(v.status is status for v in judged.verdicts) for status in (Status.FAIL, Status.UNKNOWN)]
    return OtherMachines((judged.node,), *counts).text(where)


def _words(ctx: ViewContext, judged: Judged) -> str:
    place = ctx.desk.nodes.get(judged.node)
    where = f", rack {place.rack}" + (f" U{place.u}" if place.u else "") if place is not None and place.rack else ""
    soon = (
        ", provisional: not compared with other nodes yet"
        if judged.node in ctx.board.waiting and not ctx.desk.replays
        else ""
    )
    return f"node {judged.node} ({judged.role}{where}): {judged.outcome.value}{soon}"


def _empty(ctx: ViewContext, judged: Judged) -> str:
    passed = sum(v.status is Status.PASS for v in judged.verdicts)
    idle = sum(v.status is Status.NA for v in judged.verdicts)
    if not ctx.every and aside(judged, ""):
        return aside(judged, "z lists them")
    if ctx.where.text:
        return "no rule matches; / changes the filter, z shows what passes"
    return f"{several(passed, 'rule')} pass, {idle} do not apply; nothing else (z shows them)"


def _head(ctx: ViewContext, width: int) -> Line:
    return Line(((ctx.signs.fit(f"{'verdict':<12}{'weight':<9}rule", width), "dim"),))


def _entry(ctx: ViewContext, judged: Judged, verdict: Verdict, rules: Mapping[str, Rule]) -> ListEntry:
    rule = rules[verdict.rule]
    return ListEntry(
        verdict.rule,
        lambda width: _line(ctx, verdict, rule, width),
        lambda width: list(_details(ctx, judged, verdict, rule, width)),
        (judged.node,),
        ViewState("proof", (judged.node, verdict.rule)),
        verdict.rule,
        next((e.item for e in verdict.evidence if e.status is verdict.status), ""),
        {"verdict": verdict.status.value, "severity": rule.severity.value, "seen": verdict.reason},
    )


def _line(ctx: ViewContext, verdict: Verdict, rule: Rule, width: int) -> Line:
    mark = ctx.signs.mark(verdict.status, rule.severity)
    room = max(width - 21, 0)
    name = min(28, room)
    return Line((
        (f"{mark!s:<12}", mark.style),
        (f"{rule.severity.value:<9}", "dim"),
        (ctx.signs.fit(verdict.rule, name), "bold"),
        (" " if room > name else "", ""),
        (ctx.signs.fit(verdict.reason or rule.title, max(room - name - 1, 0)), ""),
    ))  # fmt: skip


def _details(ctx: ViewContext, judged: Judged, verdict: Verdict, rule: Rule, width: int) -> Iterator[Line]:
    signs, mark = ctx.signs, ctx.signs.mark(verdict.status, rule.severity)
    truth = f", {verdict.truth.value} without waivers" if verdict.truth is not None else ""
    yield Line((
        (f" {mark}", mark.style), (f"  {rule.id}", "bold"),
        (f"  ({rule.severity.value}{truth})", "dim"),
    ))  # fmt: skip
    yield from labelled("", rule.title, signs, width, "bold")
    yield from labelled("result", verdict.reason, signs, width)
    sources = dict.fromkeys(e.source for e in verdict.evidence if e.source)
    yield from labelled("read", "; ".join(list(sources)[:3]), signs, width, "dim")
    if judged.fit.match is Match.OTHER:
        return  # there is no fix on a machine for which the profile is not made
    yield from labelled("why", rule.why, signs, width)
    yield from labelled("fix", rule.fix, signs, width)
