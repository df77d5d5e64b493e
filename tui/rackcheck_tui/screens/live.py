"""A collection in progress: each node's state, slowest first, and the total rate; afterwards, the times taken."""

from collections.abc import Iterator

from rackcheck.views.progress import NodeProgress, Pulse, Step, progress, pulse
from rackcheck.views.summary import several
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.filtering import kept_nodes
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens import burning
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.words import labelled

STYLE = {
    Step.ASKED: "bold yellow", Step.WAITS: "dim", Step.SILENT: "bold magenta", Step.READ: "cyan", Step.JUDGED: "green",
}  # fmt: skip
SIGN = {Step.ASKED: ">", Step.WAITS: "-", Step.SILENT: "?", Step.READ: "=", Step.JUDGED: "+"}


def shown(ctx: ViewContext, place: ViewState) -> ViewContent:
    """Show the nodes of the current or the last reading; for a burn-in, the parts under load."""
    if ctx.burns:
        return burning.shown(ctx, place)
    board = ctx.board
    rows = progress(board, ctx.now)
    kept, left_out = kept_nodes(ctx, [each.node for each in rows])
    entries = [_entry(ctx, each) for each in rows if each.node in kept]
    state = ("reading" if ctx.desk.replays else "collecting") if board.running else "collected"
    again = " again" if board.again is not None else ""
    return ViewContent(
        ListEntries(entries, lambda width: Line(((ctx.signs.fit("step       seconds  node", width), "dim"),))),
        f"live: {state}{again} {several(len(rows), 'node')}",
        "no nodes" if not rows else "no node matches; / changes the filter",
        left_out,
        tuple(_above(ctx, pulse(rows, board, ctx.now))),
    )


def _above(ctx: ViewContext, pulse: Pulse) -> Iterator[Line]:
    room = 30
    filled = round(room * pulse.judged / pulse.nodes) if pulse.nodes else 0
    full, empty = ("#", ".") if ctx.signs.plain else ("█", "░")
    yield Line((
        (f" {full * filled}{empty * (room - filled)} ", "bold"),
        (f"{pulse.judged:,} of {pulse.nodes:,} judged, {pulse.read:,} read, {pulse.requested:,} in progress", ""),
        (f", {pulse.silent:,} silent" if pulse.silent else "", "bold magenta"),
    ))  # fmt: skip
    rate = f" {pulse.rate:.1f} answers a second" if ctx.board.running else " done"
    left = f", about {pulse.left:.0f} s left" if pulse.left is not None else ""
    typical = f"; half of the nodes took {pulse.typical:.1f} s or less" if pulse.typical else ""
    yield Line(((f"{rate}{left}{typical}", "dim"),))
    for each in ctx.board.turned[:3]:
        turn = each.turn
        yield Line(((f" {each.node}: {turn.rule} {turn.before or 'not judged'} -> {turn.after}", "bold"),))
    if len(ctx.board.turned) > 3:
        yield Line(((f" and {len(ctx.board.turned) - 3} more verdicts changed", "dim"),))


def _entry(ctx: ViewContext, each: NodeProgress) -> ListEntry:
    return ListEntry(
        each.node,
        lambda width: _line(ctx, each, width),
        lambda width: list(_details(ctx, each, width)),
        (each.node,),
        ViewState("node", (each.node,)),
    )


def _line(ctx: ViewContext, each: NodeProgress, width: int) -> Line:
    seconds = f"{each.seconds:8.1f}" if each.seconds is not None else " " * 8
    planes = "  ".join(f"{plane.value} {message}" for plane, _, message in each.planes)
    name = min(max(len(each.node), 8), 24)
    return Line((
        (f"{SIGN[each.step]} {each.step.value:<8}", STYLE[each.step]), (f"{seconds}  ", ""),
        (ctx.signs.fit(each.node, name), "bold"), ("  ", ""), (ctx.signs.fit(planes, max(width - 22 - name, 0)), "dim"),
    ))  # fmt: skip


def _details(ctx: ViewContext, each: NodeProgress, width: int) -> Iterator[Line]:
    yield Line(((f" {SIGN[each.step]} {each.step.value}", STYLE[each.step]), (f"  {each.node}", "bold")))
    for plane, seconds, message in each.planes:
        took = f" ({seconds:.1f} s)" if seconds is not None else ""
        yield from labelled(plane.value, f"{message}{took}", ctx.signs, width)
