"""One group of identical failures: its nodes, each with its actual value."""

from collections.abc import Sequence

from rackcheck.evaluate.verdict import Verdict
from rackcheck.views.finding_groups import FindingGroup
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.filtering import kept_nodes
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.screens.groups import details, name_of, numbered
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent


def shown(ctx: ViewContext, place: ViewState) -> ViewContent:
    """Show the nodes of the group with this number."""
    number = place.about[0] if place.about else ""
    every = numbered(ctx)
    named = next((each for each in every if place.key and name_of(each) == place.key), None)
    group = named or next((each for each in every if not place.key and str(each.number) == number), None)
    if group is None:
        return ViewContent(ListEntries(()), f"group {number}", f"group {number} no longer exists; 1 shows the groups")
    kept, left_out = kept_nodes(ctx, group.nodes, verdicts=False)
    names = [name for name in group.nodes if name in kept]
    wide = min(max((len(name) for name in names), default=0), 32)
    entries = [_entry(ctx, group, name, wide) for name in names]
    message = group.rule or group.title
    hint = group.hint.sentence if group.hint is not None else ""
    above = (Line(((f" {ctx.signs.text(hint)}", "italic"),)),) if hint else ()
    words = f"group {number}: {message}, {len(names):,} of {len(group.nodes):,} nodes"
    return ViewContent(ListEntries(entries), words, "no node matches; / changes the filter", left_out, above)


def _entry(ctx: ViewContext, group: FindingGroup, name: str, wide: int) -> ListEntry:
    verdicts = {v.rule: v for v in ctx.board.judged[name].verdicts} if name in ctx.board.judged else {}
    mine = [verdicts[rule] for rule in group.rules if rule in verdicts]
    return ListEntry(
        name,
        lambda width: _line(ctx, group, name, mine, wide, width),
        lambda width: list(details(ctx, group, width)),
        (name,) if name in ctx.desk.nodes else (),
        ViewState("node", (name,), row=group.rule),
        group.rule,
        cells={"verdict": group.status.value, "seen": mine[0].reason if mine else "" if group.rules else group.got},
    )


def _line(ctx: ViewContext, group: FindingGroup, name: str, mine: Sequence[Verdict], wide: int, width: int) -> Line:
    signs, mark = ctx.signs, ctx.signs.mark(group.status, group.severity)
    place = ctx.desk.nodes.get(name)
    where = f"{place.rack} U{place.u}" if place is not None and place.rack and place.u else place.rack if place else ""
    message = mine[0].reason if len(mine) == 1 else f"{len(mine)} rules" if group.rules else group.got
    side = 12 if where else 0
    return Line((
        (f"{mark.sign} ", mark.style), (signs.fit(name, wide) + "  ", "bold"),
        (signs.fit(where, side), "cyan"), (signs.fit(message, max(width - wide - side - 4, 0)), ""),
    ))  # fmt: skip
