"""Every node with its outcome, worst first, and its rules that do not pass."""

from collections import Counter
from collections.abc import Iterator

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.text import natural
from rackcheck.run.event import Judged
from rackcheck.views.signs import OUTCOME
from rackcheck.views.summary import COUNTED, ORDER, several
from rackcheck.views.terminal import OUTCOMES, STYLES, Line
from rackcheck_tui.controllers.filtering import kept_nodes
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.screens.node import aside, why
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.words import labelled

WORST = (Outcome.FAIL, Outcome.INCOMPLETE, Outcome.PASS)
SHOWN = tuple(status for status in ORDER if status not in {Status.PASS, Status.NA})


def shown(ctx: ViewContext, _: ViewState) -> ViewContent:
    """Show the nodes, then racks and fleet if they were judged as a whole, then nodes that were not judged."""
    board = ctx.board
    kept, left_out = kept_nodes(ctx, (*board.nodes, *(name for name in board.judged if name not in board.nodes)))
    judged = [each for name, each in board.judged.items() if name in kept]
    missing = [name for name in board.nodes if name in kept and name not in board.judged]
    if not ctx.every and not board.running:
        judged = [each for each in judged if each.outcome is not Outcome.PASS or _loud(each)]
    counted = [(each, Counter(v.status for v in each.verdicts)) for each in judged]
    counted.sort(key=lambda n: (WORST.index(n[0].outcome), *(-n[1][s] for s in SHOWN), natural(n[0].node)))
    widest = min(max((len(name) for name in kept), default=0), 32)
    entries = [_entry(ctx, each, count, widest) for each, count in counted]
    entries += [_missing(ctx, name, widest) for name in missing]
    fine = len(kept) - len(entries)
    words = f"nodes: {len(entries):,} of {len(kept):,} shown" + (
        f", {fine:,} pass without findings (z)" if fine else ""
    )
    empty = f"all {several(fine, 'node')} pass without findings; z shows them" if fine else "no node matches"
    return ViewContent(ListEntries(entries), words, empty, left_out)


def _loud(judged: Judged) -> bool:
    return any(v.status in SHOWN for v in judged.verdicts)


def _entry(ctx: ViewContext, node: Judged, count: Counter[Status], widest: int) -> ListEntry:
    return ListEntry(
        node.node,
        lambda width: _line(ctx, node, count, widest, width),
        lambda width: list(details(ctx, node, width)),
        (node.node,) if node.node in ctx.desk.nodes else (),
        ViewState("node", (node.node,)),
        cells={
            "outcome": node.outcome.value,
            "role": node.role,
            "reason": why(node),
            **{s.value: str(count[s]) for s in COUNTED},
        },
    )


def _missing(ctx: ViewContext, name: str, widest: int) -> ListEntry:
    words = "not judged yet" if ctx.board.running else "not judged"
    line = Line(((" - ", "dim"), (f"{'':<11}", ""), (ctx.signs.fit(name, widest) + "  ", "bold"), (words, "dim")))
    return ListEntry(name, lambda _: line, lambda _: [line], (name,), ViewState("node", (name,)))


def _line(ctx: ViewContext, node: Judged, count: Counter[Status], widest: int, width: int) -> Line:
    signs = ctx.signs
    rows = [
        (f"{signs.status(s)} {count[s]} {s.value}  ", STYLES[s]) for s in (*SHOWN, Status.PASS, Status.NA) if count[s]
    ]
    reason = why(node)
    if reason and not node.fit.decides:
        rows = []
    if node.node in ctx.board.waiting and not ctx.desk.replays:
        rows.insert(0, ("so far  ", "yellow"))
    room = max(width - 14 - widest - 2, 0)
    kept: list[tuple[str, str]] = []
    for words, style in rows:
        kept.append((signs.fit(words, min(len(words), room)), style))
        room = max(room - len(words), 0)
    last = node.role if not reason else signs.fit(reason, min(len(reason), room))
    return Line((
        (f" {signs.status(OUTCOME[node.outcome])} {node.outcome.value:<11}", OUTCOMES[node.outcome]),
        (signs.fit(node.node, widest) + "  ", "bold"),
        *kept,
        (signs.fit(last, room), "" if reason else "dim"),
    ))  # fmt: skip


def details(ctx: ViewContext, node: Judged, width: int) -> Iterator[Line]:
    """Yield how a node was judged: every rule that does not pass, with the actual value."""
    signs, rules = ctx.signs, {rule.id: rule for rule in ctx.board.profile.rules}
    head = f" {signs.status(OUTCOME[node.outcome])} {node.outcome.value}"
    scope = f"; {several(node.not_in_scope, 'rule')} not in scope" if node.not_in_scope else ""
    yield Line(
        ((head, OUTCOMES[node.outcome]), (f"  {signs.text(node.node)}", "bold"), (f"  {node.role}{scope}", "dim"))
    )
    yield from labelled("why", why(node), signs, width, "bold")
    yield from labelled("note", node.note, signs, width)
    folded = "" if ctx.every else aside(node, "z lists them")
    yield from labelled("rules", folded, signs, width)
    for status in () if folded else SHOWN:
        for verdict in (v for v in node.verdicts if v.status is status):
            rule = rules[verdict.rule]
            mark = signs.mark(status, rule.severity)
            words = (verdict.rule, "bold"), (f"  ({rule.severity.value})", "dim")
            yield Line(((f"   {mark!s:<10}", mark.style), *words))
            for text in (rule.title, verdict.reason):
                yield from labelled("", text, signs, width)
    for quiet in ORDER[-2:]:
        found = [v.rule for v in node.verdicts if v.status is quiet]
        if found:
            yield from labelled(quiet.value, f"{len(found)}: {', '.join(found)}", signs, width, "dim")
