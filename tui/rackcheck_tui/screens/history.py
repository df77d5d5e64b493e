"""The history of a node or a rule, run by run: identical runs share one row, and changes are listed below."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Status
from rackcheck.views.summary import several
from rackcheck.views.terminal import OUTCOMES, STYLES, Line
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.words import labelled

BARS = "▁▂▃▄▅▆▇█"
WIDE = 24

RunDoc = Mapping[str, Any]
Past = tuple[str, Sequence[RunDoc]]


def shown(ctx: ViewContext, place: ViewState) -> ViewContent:
    """Show the fetched history of a node or a rule; if no name is given, show how to enter one."""
    name = place.about[0] if place.about else ""
    if not name:
        return ViewContent(ListEntries(()), "history", "of what? :history NODE or :history RULE, or H on a row")
    past = ctx.fetched.get(ViewState("history", place.about))
    if isinstance(past, UserError):
        return ViewContent(ListEntries(()), f"history of {name}", str(past))
    if not isinstance(past, tuple):
        return ViewContent(ListEntries(()), f"history of {name}", "reading the index of runs ...")
    kind: str = past[0]
    runs: Sequence[RunDoc] = past[1]
    entries = [_entry(ctx, name, run, number) for number, run in enumerate(runs)]
    return ViewContent(
        ListEntries(entries), f"history of {kind} {name}: {several(len(runs), 'state')}", f"no run contains {name}",
        above=tuple(_strip(ctx, runs)),
    )  # fmt: skip


def _strip(ctx: ViewContext, runs: Sequence[RunDoc]) -> Iterator[Line]:
    """Draw the number of failing nodes, from the oldest run to the newest."""
    failing = [run.get("counts", {}).get("fail", 0) for run in reversed(runs)]
    if len(failing) < 2 or not any("counts" in run for run in runs):
        return
    most = max(failing) or 1
    shown = failing[-WIDE:]
    if ctx.signs.plain:
        drawn = " ".join(str(n) for n in shown)
    else:
        drawn = "".join(BARS[round((len(BARS) - 1) * n / most)] for n in shown)
    unknown = runs[0].get("counts", {}).get("unknown", 0)
    unsure = (f", {unknown} unknown", "bold magenta") if unknown else ("", "")
    yield Line(
        ((" failing nodes, the newest last  ", "dim"), (drawn, "bold red"), (f"  now {failing[-1]}", ""), unsure)
    )


def _entry(ctx: ViewContext, name: str, run: RunDoc, number: int) -> ListEntry:
    newest = run["newest"]
    return ListEntry(
        f"{newest['run']}",
        lambda width: _line(ctx, run, width),
        lambda width: list(_details(ctx, name, run, width)),
        into=ViewState("run", (str(newest["run"]),)) if number else None,
    )


def _line(ctx: ViewContext, run: RunDoc, width: int) -> Line:
    newest = run["newest"]
    head = f"{newest['time']:<22}"
    alike = f"{run['alike']:>4} run{'s' if run['alike'] > 1 else ' '}  "
    if "counts" in run:
        rows = [(f"{count} {status}  ", STYLES.get(Status(status), "")) for status, count in run["counts"].items()]
    else:
        outcome = str(run["outcome"])
        style = next((s for o, s in OUTCOMES.items() if o.value == outcome), "")
        first = "first run" if run.get("first") else f"{len(run.get('says', ()))} changes"
        rows = [(f"{outcome:<11}", style), (first, "")]
    room = max(width - len(head) - len(alike), 0)
    pieces = []
    for text, style in rows:
        pieces.append((ctx.signs.fit(text, min(len(text), room)), style))
        room = max(room - len(text), 0)
    return Line(((head, "bold"), (alike, "dim"), *pieces, (" " * room, "")))


def _details(ctx: ViewContext, name: str, run: RunDoc, width: int) -> Iterator[Line]:
    newest, oldest = run["newest"], run["oldest"]
    yield Line(((f" {name}", "bold"), (f"  run {newest['run']}", "dim")))
    if run["alike"] > 1:
        yield from labelled("alike", f"{run['alike']} runs, since {oldest['time']} ({oldest['run']})", ctx.signs, width)
    for status, nodes in run.get("nodes", {}).items():
        yield from labelled(status, nodes, ctx.signs, width)
    for value in run.get("says", ()):
        yield from labelled("since", value, ctx.signs, width)
