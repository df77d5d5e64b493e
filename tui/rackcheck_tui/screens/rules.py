"""The profile: its rules in order, what each rule requires and why, and its results in this run."""

from collections import Counter
from collections.abc import Iterator, Mapping

from rackcheck.evaluate.verdict import Status
from rackcheck.filter.where import FINDING_KEYS
from rackcheck.model.profile import Rule
from rackcheck.views.summary import COUNTED
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.filtering import rule_words
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.words import labelled


def shown(ctx: ViewContext, _: ViewState) -> ViewContent:
    """Show every rule; rules without a verdict in this run are marked."""
    profile = ctx.desk.profile
    counts = _counts(ctx)
    where = ctx.where.about(FINDING_KEYS)
    states = {rule.id: tuple(status.value for status in counts.get(rule.id, {})) for rule in profile.rules}
    found = [rule for rule in profile.rules if where.holds(rule_words(ctx, rule, states[rule.id]))]
    entries = [_entry(ctx, rule, counts.get(rule.id, Counter())) for rule in found]
    return ViewContent(
        ListEntries(entries),
        f"profile {profile.name} {profile.version}: {len(found)} of {len(profile.rules)} rules",
        "no rule matches; / changes the filter",
    )


def _counts(ctx: ViewContext) -> Mapping[str, Counter[Status]]:
    found: dict[str, Counter[Status]] = {}
    for verdict, nodes in ctx.board.alike():
        found.setdefault(verdict.rule, Counter())[verdict.status] += len(nodes)
    return found


def _entry(ctx: ViewContext, rule: Rule, counts: Counter[Status]) -> ListEntry:
    return ListEntry(
        rule.id,
        lambda width: _line(ctx, rule, counts, width),
        lambda width: list(_details(ctx, rule, counts, width)),
        into=ViewState("explain", (rule.id,)),
        rule=rule.id,
    )


def _line(ctx: ViewContext, rule: Rule, counts: Counter[Status], width: int) -> Line:
    marks = [(ctx.signs.mark(s, rule.severity), counts[s]) for s in COUNTED if counts[s]]
    rows = [(f"{mark.sign}{count} ", mark.style) for mark, count in marks] or [("not judged ", "dim")]
    side = sum(len(text) for text, _ in rows)
    name = min(32, max(width - side - 10, 0))
    room = max(width - name - side - 10, 0)
    return Line((
        (f"{rule.severity.value:<9} "[:10], "dim"), (ctx.signs.fit(rule.id, name), "bold"),
        (" "[:room], ""), (ctx.signs.fit(rule.title, max(room - 2, 0)), ""), (" "[: max(room - 1, 0)], ""), *rows,
    ))  # fmt: skip


def _details(ctx: ViewContext, rule: Rule, counts: Counter[Status], width: int) -> Iterator[Line]:
    signs = ctx.signs
    yield Line(((f" {rule.id}", "bold"), (f"  ({rule.severity.value}, {rule.scope.value})", "dim")))
    yield from labelled("", rule.title, signs, width, "bold")
    for clause in rule.clauses:
        yield from labelled("expected", f"{clause.fact or 'it'} {clause.expected}", signs, width)
    yield from labelled("reads", ", ".join(sorted(map(str, rule.facts()))), signs, width, "dim")
    yield from labelled("needs", ", ".join(rule.needs), signs, width)
    yield from labelled("why", rule.why, signs, width)
    yield from labelled("fix", rule.fix, signs, width)
    for ref in rule.refs:
        source = ctx.desk.profile.sources.get(ref)
        message = f"{source.title}, {source.section} ({source.publisher}, {source.date})" if source is not None else ref
        yield from labelled("source", message, signs, width, "dim")
    yield from labelled("written", rule.place, signs, width, "dim")
    text = ", ".join(f"{counts[s]} {s.value}" for s in COUNTED if counts[s])
    yield from labelled("here", text or "not judged in this run", signs, width)
