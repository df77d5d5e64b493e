"""The racks view: the cell of each node in one of four modes, and the legend of the cells."""

from collections.abc import Mapping, Sequence

from rackcheck.views import modes
from rackcheck.views.elevation import dots, elevation
from rackcheck.views.locations import among
from rackcheck.views.modes import LEFT_OUT, Cell, KnownNodes, Mode
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.filtering import kept_nodes
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens import nodes
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.screens.odd import compared
from rackcheck_tui.widgets.entries import ListEntries, ViewContent
from rackcheck_tui.widgets.panels import FrontPanel, Plain

MANY = 256
"""Number of nodes above which racks are drawn without their units."""

COLUMNS = 8
"""Number of nodes in one line of a rack that is drawn without units."""


def shown(ctx: ViewContext, _: ViewState) -> ViewContent:
    """Return the heading of the racks view; the racks themselves are drawn from `picture` and `panels`."""
    kept, left_out = kept_nodes(ctx, ctx.desk.nodes)
    total = len(ctx.desk.nodes)
    every = among(len(kept), total, "node") if ctx.where else f"{total:,} node{'' if total == 1 else 's'}"
    return ViewContent(ListEntries(()), f"racks: {ctx.mode}, {every}", "no nodes", left_out)


def panels(ctx: ViewContext) -> Sequence[FrontPanel]:
    """Place every node in its rack; above `MANY` nodes, each line of a rack has eight nodes and no unit."""
    racks = elevation(ctx.desk.nodes, ctx.desk.racks).racks
    if len(ctx.desk.nodes) <= MANY:
        return racks
    return [Plain(panel.name, dots(panel, COLUMNS)) for panel in racks]


def picture(ctx: ViewContext) -> tuple[Mapping[str, Cell], Line]:
    """Return each node's cell in the current mode, and the line that explains the symbols."""
    found = modes.picture(Mode(ctx.mode), seen_now(ctx), ctx.signs)
    kept, _ = kept_nodes(ctx, ctx.desk.nodes)
    cells = {name: cell if name in kept else LEFT_OUT for name, cell in found.cells.items()}
    return cells, Line(((" ", ""), *found.legend.pieces))


def seen_now(ctx: ViewContext) -> KnownNodes:
    """Collect the data that the modes read from the run's current state."""
    board = ctx.board
    due = frozenset(board.due()) if board.running and not ctx.desk.replays else frozenset()
    asked = frozenset(name for name in due if name not in board.fresh)
    outcomes = {name: each.outcome for name, each in board.judged.items() if name not in asked}
    drift = differing(ctx) if ctx.mode == Mode.DRIFT else {}
    return KnownNodes(tuple(ctx.desk.nodes), outcomes, asked, board.measured, drift)


def differing(ctx: ViewContext) -> Mapping[str, int]:
    """Count for every node the facts that differ from most of its role; nodes with an unknown count are omitted.

    The count of a node is unknown if one of its facts is unknown although most nodes have the same value for it. Such a
    node is omitted, unless another fact of the node is known to differ.
    """
    held = compared(ctx)
    mute = {name for each in held for name, _ in each.silent}
    found = {name: 0 for each in held if not each.why for name in each.nodes if name not in mute}
    return {**found, **{one.node: len(one.deviations) for each in held for one in each.odd}}


def details(ctx: ViewContext, name: str, cell: Cell, width: int) -> Sequence[Line]:
    """Return details of the node under the cursor: the meaning of its cell, and its verdicts."""
    judged = ctx.board.judged.get(name)
    first = Line(((f" {name}", "bold"), (f"  {cell.word}", cell.style)))
    rows = tuple(nodes.details(ctx, judged, width)) if judged is not None else ()
    return rows if rows and ctx.mode == Mode.STATE else (first, *rows)
