"""Waivers: who answers for what, until when, and how each stands in this run; a waived failure stays in sight."""

from collections.abc import Iterator

from rackcheck.evaluate.waiver import Standing, State
from rackcheck.model.fold import fold
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.trail import Place
from rackcheck_tui.screens.context import Context
from rackcheck_tui.widgets.entries import Entries, Entry, Shown
from rackcheck_tui.widgets.words import folded, labelled

STYLE = {
    State.USED: "cyan", State.UNUSED: "dim", State.LAPSED: "bold red", State.EXPIRED: "bold red",
    State.WAITING: "bold magenta", State.ELSEWHERE: "dim",
}  # fmt: skip
SIGN = {
    State.USED: "~", State.UNUSED: "-", State.LAPSED: "!", State.EXPIRED: "!", State.WAITING: "?",
    State.ELSEWHERE: "-",
}  # fmt: skip
ORDER = (State.EXPIRED, State.LAPSED, State.WAITING, State.USED, State.UNUSED, State.ELSEWHERE)


def shown(ctx: Context, _: Place) -> Shown:
    """Show every waiver that the run is judged with, those that no longer hold first."""
    if ctx.board.started is None:
        return Shown(Entries(()), "waivers", "nothing was read yet")
    stand = sorted(ctx.board.summary().waivers, key=lambda each: ORDER.index(each.state))
    entries = [_entry(ctx, each, number) for number, each in enumerate(stand)]
    return Shown(
        Entries(entries, lambda width: Line(((ctx.signs.fit("state       until       rule, nodes", width), "dim"),))),
        f"waivers: {len(stand)}",
        "no waivers: w on a finding writes one",
    )


def _entry(ctx: Context, each: Standing, number: int) -> Entry:
    waiver = each.waiver
    return Entry(
        f"{number}:{waiver.rule}",
        lambda width: _line(ctx, each, width),
        lambda width: list(_details(ctx, each, width)),
        each.nodes,
        Place("node", (each.nodes[0],)) if each.nodes else None,
        waiver.rule,
    )


def _line(ctx: Context, each: Standing, width: int) -> Line:
    waiver, signs = each.waiver, ctx.signs
    head = f"{SIGN[each.state]} {each.state.value:<10}"
    rest = f"{waiver.rule} on {fold(each.nodes)}: {waiver.reason} ({waiver.by}, {waiver.ticket})"
    return Line((
        (head, STYLE[each.state]), (f"{waiver.until:<12}", "bold"), (signs.fit(rest, max(width - 24, 0)), ""),
    ))  # fmt: skip


def _details(ctx: Context, each: Standing, width: int) -> Iterator[Line]:
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
