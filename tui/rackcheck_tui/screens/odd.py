"""Outliers: nodes that differ from most nodes of their role, most different first, and the facts that differ."""

from collections.abc import Iterator

from rackcheck.model.fold import fold
from rackcheck.views.odd import Deviation, Odd, RoleMajority, peers
from rackcheck.views.summary import several
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.filtering import kept_nodes
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.words import labelled


def shown(ctx: ViewContext, _: ViewState) -> ViewContent:
    """Show the nodes that differ; if no comparison is possible, show why."""
    found = compared(ctx)
    ranked = sorted((one for each in found for one in each.odd), key=lambda one: -one.score)
    kept, left_out = kept_nodes(ctx, [one.node for one in ranked])
    entries = [_entry(ctx, one) for one in ranked if one.node in kept]
    above = tuple(_above(ctx, each) for each in found)
    return ViewContent(
        ListEntries(entries, lambda _: Line(((" facts  node", "dim"),))),
        f"odd: {several(len(entries), 'node')} with unusual values",
        "no node differs from most of its role" if any(each.agreed for each in found) else "no comparison is possible",
        left_out,
        above,
    )


def compared(ctx: ViewContext) -> tuple[RoleMajority, ...]:
    """Compare the nodes of each role with each other; cached until the run's state changes."""
    held = ctx.fetched.get(ViewState("odd"))
    if not isinstance(held, tuple) or held[0] != ctx.board.version:
        held = ctx.board.version, peers(ctx.board.census)
        ctx.fetched[ViewState("odd")] = held
    made: tuple[RoleMajority, ...] = held[1]
    return made


def _above(ctx: ViewContext, each: RoleMajority) -> Line:
    if each.why:
        return Line(((f" {each.role}: {each.why}", "bold magenta"),))
    mute = several(len(each.silent), "node")
    silent = f"; some facts are unknown on {mute}" if each.silent else ""
    split = f", {each.split:,} without a majority" if each.split else ""
    message = (
        f"{each.role}: {several(len(each.nodes), 'node')}, {each.agreed:,} facts on which most of them agree{split}"
    )
    return Line(((f" {ctx.signs.text(f'{message}{silent}')}", "dim"),))


def _entry(ctx: ViewContext, one: Odd) -> ListEntry:
    return ListEntry(
        one.node,
        lambda width: _line(ctx, one, width),
        lambda width: list(_details(ctx, one, width)),
        (one.node,),
        ViewState("diff", (one.node, "peers")),
    )


def _line(ctx: ViewContext, one: Odd, width: int) -> Line:
    name = min(max(len(one.node), 8), 24)
    first = one.deviations[0].text if one.deviations else ""
    more = f"and {len(one.deviations) - 1} more" if len(one.deviations) > 1 else ""
    room = max(width - name - 12 - len(more), 0)
    return Line((
        (f"{len(one.deviations):>6}  ", "bold yellow"), (ctx.signs.fit(one.node, name) + "  ", "bold"),
        (ctx.signs.fit(first, room), ""), ("  ", ""), (ctx.signs.fit(more, max(width - name - 12 - room, 0)), "dim"),
    ))  # fmt: skip


def _details(ctx: ViewContext, one: Odd, width: int) -> Iterator[Line]:
    yield Line(
        (
            (f" {one.node}", "bold"),
            (f"  {one.role}, {several(len(one.deviations), 'fact')} with an unusual value", "dim"),
        )
    )
    for each in one.deviations:
        yield from labelled("", _deviation_text(each, one.node), ctx.signs, width)
    if one.unknown:
        text = f"{several(one.unknown, 'fact')} that its peers report"
        yield from labelled("unknown", text, ctx.signs, width, "bold magenta")


def _deviation_text(each: Deviation, node: str) -> str:
    others = [name for name in each.nodes if name != node]
    return each.text + (f"; the same on {fold(others)}" if others else "")
