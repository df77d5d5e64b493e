"""Waivers: who is responsible, the expiry date, and the state of each in this run; waived failures stay visible."""

from collections.abc import Iterator

from rackcheck.evaluate.waiver import Standing, WaiverState
from rackcheck.model.fold import fold
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.words import folded, labelled

STYLE = {
    WaiverState.USED: "cyan",
    WaiverState.UNUSED: "dim",
    WaiverState.LAPSED: "bold red",
    WaiverState.EXPIRED: "bold red",
    WaiverState.WAITING: "bold magenta",
    WaiverState.ELSEWHERE: "dim",
}
SIGN = {
    WaiverState.USED: "~",
    WaiverState.UNUSED: "-",
    WaiverState.LAPSED: "!",
    WaiverState.EXPIRED: "!",
    WaiverState.WAITING: "?",
    WaiverState.ELSEWHERE: "-",
}
ORDER = (
    WaiverState.EXPIRED,
    WaiverState.LAPSED,
    WaiverState.WAITING,
    WaiverState.USED,
    WaiverState.UNUSED,
    WaiverState.ELSEWHERE,
)


def shown(ctx: ViewContext, _: ViewState) -> ViewContent:
    """Show every waiver of the run; waivers that are no longer in force are first."""
    if ctx.board.started is None:
        return ViewContent(ListEntries(()), "waivers", "nothing was read yet")
    stand = sorted(ctx.board.summary().waivers, key=lambda each: ORDER.index(each.state))
    entries = [_entry(ctx, each, number) for number, each in enumerate(stand)]
    return ViewContent(
        ListEntries(
            entries, lambda width: Line(((ctx.signs.fit("state       until       rule, nodes", width), "dim"),))
        ),
        f"waivers: {len(stand)}",
        "no waivers: w on a finding writes one",
    )


def _entry(ctx: ViewContext, each: Standing, number: int) -> ListEntry:
    waiver = each.waiver
    return ListEntry(
        f"{number}:{waiver.rule}",
        lambda width: _line(ctx, each, width),
        lambda width: list(_details(ctx, each, width)),
        each.nodes,
        ViewState("node", (each.nodes[0],)) if each.nodes else None,
        waiver.rule,
    )


def _line(ctx: ViewContext, each: Standing, width: int) -> Line:
    waiver, signs = each.waiver, ctx.signs
    head = f"{SIGN[each.state]} {each.state.value:<10}"
    rest = f"{waiver.rule} on {fold(each.nodes)}: {waiver.reason} ({waiver.by}, {waiver.ticket})"
    return Line((
        (head, STYLE[each.state]), (f"{waiver.until:<12}", "bold"), (signs.fit(rest, max(width - 24, 0)), ""),
    ))  # fmt: skip


def _details(ctx: ViewContext, each: Standing, width: int) -> Iterator[Line]:
    waiver, signs = each.waiver, ctx.signs
    yield Line(((f" {SIGN[each.state]} {each.state.value}", STYLE[each.state]), (f"  {waiver.rule}", "bold")))
    yield from labelled("because", each.detail, signs, width)
    yield from folded("nodes", fold(each.nodes), signs, width, "cyan")
    for pin in waiver.pins:
        yield from labelled("pinned", f"{pin.item} is {pin.observed}", signs, width)
    for label, text in (
        ("until", waiver.until), ("by", waiver.by), ("ticket", waiver.ticket), ("reason", waiver.reason),
        ("written", waiver.place),
    ):  # fmt: skip
        yield from labelled(label, text, signs, width)
