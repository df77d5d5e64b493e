"""The steps of an acceptance: what is done, what is left to do on which nodes, and the command that continues."""

from collections.abc import Iterator

from rackcheck.evaluate.verdict import Outcome
from rackcheck.views.steps import Step, next_command
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.words import labelled

STYLE = {Outcome.PASS: "bold green", Outcome.FAIL: "bold red", Outcome.INCOMPLETE: "bold magenta", None: "cyan"}


def shown(ctx: ViewContext, _: ViewState) -> ViewContent:
    """Show the steps in their order."""
    steps = ctx.desk.steps
    entries = [_entry(ctx, step) for step in steps]
    left = sum(bool(step.left) for step in steps)
    return ViewContent(
        ListEntries(entries, lambda width: Line(((ctx.signs.fit("state       step", width), "dim"),))),
        f"steps: {left} of {len(steps)} open" if steps else "steps",
        "no steps: an acceptance has them (rackcheck accept new NAME -p PROFILE)",
    )


def _entry(ctx: ViewContext, step: Step) -> ListEntry:
    nodes = step.nodes
    return ListEntry(
        step.name,
        lambda width: _line(ctx, step, width),
        lambda width: list(_details(ctx, step, width)),
        nodes,
        ViewState("node", (nodes[0],)) if nodes else None,
    )


def _line(ctx: ViewContext, step: Step, width: int) -> Line:
    rest = f"{step.name}{f': {next(step.details(), str())}' if step.left or step.outcome is None else ''}"
    return Line(((f"{step.state:<12}", STYLE[step.outcome]), (ctx.signs.fit(rest, max(width - 12, 0)), "")))


def _details(ctx: ViewContext, step: Step, width: int) -> Iterator[Line]:
    yield Line(((f" {step.state}", STYLE[step.outcome]), (f"  {step.name}", "bold")))
    for detail in step.details():
        yield from labelled("because" if step.outcome is None or step.left else "rose", detail, ctx.signs, width)
    if command := next_command(ctx.desk.steps, ctx.desk.name):
        yield from labelled("next", command, ctx.signs, width)
