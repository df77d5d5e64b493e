"""What can be copied of a row: its value, its nodes, the line that reads the same by hand, the command of a view."""

from collections.abc import Mapping, Sequence

from rackcheck.model.fact import Plane
from rackcheck.model.fold import fold
from rackcheck.model.tree import Leaf
from rackcheck.views import retype
from rackcheck.views.desk import NodeFacts
from rackcheck_tui.controllers.trail import Place
from rackcheck_tui.controllers.verbs import twin
from rackcheck_tui.screens.context import Context
from rackcheck_tui.widgets.entries import Entry


def copies(
    desk: NodeFacts, ctx: Context, place: Place, entry: Entry | None, nodes: Sequence[str]
) -> Mapping[str, str]:  # fmt: skip
    """Make every form there is, by its name; reads a node's answers where a line names their source."""
    found: dict[str, str] = {}
    if nodes:
        found["nodes"] = fold(nodes)
    if entry is not None and entry.rule:
        found["rule"] = entry.rule
    fact = entry.fact if entry is not None else ""
    if fact and nodes:
        leaf = desk.tree(nodes[0]).leaves.get(fact)
        if leaf is not None:
            found["value"] = retype.value(leaf)
            found["line"] = "\n".join(_line(ctx, fact, leaf, name) for name in nodes)
            found["json"] = retype.document(nodes[0], fact, leaf)
    again = [line for name in nodes if name in ctx.burns.benches and (line := ctx.burns.replay(name))]
    if again:
        found["again"] = "\n".join(again)
    if place.view == "load" and entry is not None and entry.cells:
        found["told"] = ", ".join(entry.cells.values())
    found["command"] = twin(ctx, place)
    return found


def _line(ctx: Context, fact: str, leaf: Leaf, node: str) -> str:
    """Write what reads a fact by hand; one that a load measured is measured by the same load again."""
    if leaf.plane is Plane.BURNIN:
        return ctx.burns.replay(node) or "# it was measured under load, and the node told no seed"
    return retype.line(leaf.source, leaf.plane, ctx.desk.nodes[node], ctx.desk.probe(fact))
