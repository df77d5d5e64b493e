"""Every fact of a node, with its value, its plane and its source."""

from collections.abc import Iterator

from rackcheck.base.user_error import UserError
from rackcheck.filter.where import FINDING_KEYS, FilterRow
from rackcheck.model import operator
from rackcheck.model.fact import Absent, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.words import labelled


def shown(ctx: ViewContext, place: ViewState) -> ViewContent:
    """Show a node's facts, after they were read in the background."""
    name = place.about[0] if place.about else ""
    tree = ctx.fetched.get(ViewState("facts", place.about))
    if isinstance(tree, UserError):
        return ViewContent(ListEntries(()), f"facts of {name}", str(tree))
    if not isinstance(tree, Tree):
        return ViewContent(
            ListEntries(()), f"facts of {name}", "reading its answers ..." if name else "of which node? :facts NODE"
        )
    where = ctx.where.about(FINDING_KEYS)
    rows = [(path, tree.leaves[path]) for path in tree if not _not_collected(tree.leaves[path])]
    kept = [(path, leaf) for path, leaf in rows if not where or where.holds(_words(path, leaf))]
    width = min(max((len(path) for path, _ in kept), default=0), 44)
    entries = [_entry(ctx, name, path, leaf, tree.time(leaf), width) for path, leaf in kept]
    return ViewContent(
        ListEntries(entries),
        f"facts of {name}: {len(kept):,} of {len(rows):,}",
        "no fact matches; / changes the filter",
    )


def _not_collected(leaf: Leaf) -> bool:
    return isinstance(leaf.reading, Unknown) and leaf.reading.detail.startswith("this run did not ")


def _words(path: str, leaf: Leaf) -> FilterRow:
    state = "unknown" if isinstance(leaf.reading, Unknown) else "pass"
    words = {"fact": (path,), "plane": (leaf.plane.value,), "class": (leaf.kind.cls.value,)}
    return FilterRow({**words, "state": (state,)} if state == "unknown" else words, f"{path} {value(leaf)}")


def value(leaf: Leaf) -> str:
    """Format the value of a fact as text."""
    match leaf.reading:
        case Unknown(reason, detail):
            return f"unknown: {reason.value}" + (f" ({detail})" if detail else "")
        case Absent():
            return "absent"
        case known:
            return operator.spell(known, leaf.kind)


def _entry(ctx: ViewContext, node: str, path: str, leaf: Leaf, time: str, wide: int) -> ListEntry:
    return ListEntry(
        path,
        lambda width: _line(ctx, path, leaf, min(wide, width * 3 // 5), width),
        lambda width: list(_details(ctx, path, leaf, time, width)),
        (node,),
        ViewState("reply", (node, path)),
        fact=path,
        cells={"value": value(leaf), "plane": leaf.plane.value, "source": leaf.source, "time": time},
    )


def _line(ctx: ViewContext, path: str, leaf: Leaf, wide: int, width: int) -> Line:
    style = (
        "bold magenta" if isinstance(leaf.reading, Unknown) else "dim" if isinstance(leaf.reading, Absent) else "bold"
    )
    return Line((
        (ctx.signs.fit(path, wide) + "  ", ""), (f"{leaf.plane.value:<8}", "dim"),
        (ctx.signs.fit(value(leaf), max(width - wide - 10, 0)), style),
    ))  # fmt: skip


def _details(ctx: ViewContext, path: str, leaf: Leaf, time: str, width: int) -> Iterator[Line]:
    yield Line(((f" {path}", "bold"),))
    for label, text in (
        ("value", value(leaf)), ("plane", leaf.plane.value), ("class", leaf.kind.cls.value),
        ("read from", leaf.source), ("time", time), ("meaning", leaf.kind.help),
    ):  # fmt: skip
        yield from labelled(label, text, ctx.signs, width)
