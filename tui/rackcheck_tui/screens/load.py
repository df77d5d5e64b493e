"""One part under load: its faults, its histories, and each stage of its work; below, the selected row's chart."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from rackcheck.model.burn_record import Fault, Stage
from rackcheck.views.part import LoadedPart
from rackcheck.views.part_health import Bearing, bearings
from rackcheck.views.summary import several
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens import burning
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.screens.part import drawn, fault_text, histories, line_of, mark, stage_of
from rackcheck_tui.widgets.charts import scaled
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.words import labelled


def shown(ctx: ViewContext, place: ViewState) -> ViewContent:
    """Show one GPU or host; if no part is named, all parts of a node."""
    node, of = (*place.about, "", "")[:2]
    bench = ctx.burns.benches.get(node)
    if bench is None:
        return ViewContent(
            ListEntries(()), "load", f"{node or 'this node'} was not put under load; 5 shows the nodes that were"
        )
    if not of:
        return burning.shown(ctx, place)
    found = [(part, bears) for part, bears in bearings(ctx.burns, bench, burning.rules_of(ctx)) if part.of == of]
    if not found:
        near = ctx.desk.nearest(of, [part.of for part in bench.parts])
        return ViewContent(ListEntries(()), f"load {node}", f"{node} reports no {of}{near}")
    part, bears = found[0]
    entries = [*_findings(ctx, part), *_courses(ctx, part), *_works(ctx, part)]
    return ViewContent(
        ListEntries(entries), f"{node} {of}: {bears.words}", f"{node} has not reported on {of} yet",
        above=tuple(_above(ctx, part, bears)),
    )  # fmt: skip


def _above(ctx: ViewContext, part: LoadedPart, bears: Bearing) -> Iterator[Line]:
    sign, style = mark(ctx, bears)
    about = part.about
    parts = [str(about.get(name)) for name in ("model", "cpu", "serial", "pci") if about.get(name)]
    parts += [f"limit {part.limit:.0f} W"] if part.limit is not None else []
    stage = stage_of(ctx, part)
    doing = f"{part.t:.0f} s, {stage}" if stage else f"{part.t:.0f} s"
    label = ("SIMULATION ", "bold yellow") if ctx.burns.simulated else ("", "")
    yield Line(((f" {sign} ", style), label, (f"{doing}  ", "bold"), (ctx.signs.text(", ".join(parts), 200), "")))
    bench = ctx.burns.benches[part.node]
    amiss = [f"the load ended early: {bench.why}"] if bench.ended == "stopped" else []
    amiss += [str(bench.trouble)] if bench.trouble is not None else []
    amiss += [f"{several(bench.unread, 'record')} could not be read"] if bench.unread else []
    if amiss:
        yield Line(((f" {ctx.signs.text('; '.join(amiss), 300)}", "bold magenta"),))
    if line := ctx.burns.replay(part.node):
        yield Line(((f" again: {ctx.signs.text(line)}", "dim"),))


def _findings(ctx: ViewContext, part: LoadedPart) -> Iterator[ListEntry]:
    for number, fault in enumerate(part.faults):
        yield _entry(
            part, f"finding {number}", partial(_finding, ctx, fault), partial(_of_finding, ctx, part, fault),
            {"finding": fault.name, "said": fault_text(fault)},
        )  # fmt: skip


def _entry(
    part: LoadedPart, name: str, line: Callable[[int], Line], details: Callable[[int], Iterable[Line]],
    cells: Mapping[str, str],
) -> ListEntry:  # fmt: skip
    return ListEntry(name, line, lambda width: list(details(width)), (part.node,), cells=cells)


def _finding(ctx: ViewContext, fault: Fault, width: int) -> Line:
    return Line((("! ", "bold red"), (ctx.signs.fit(fault_text(fault), max(width - 2, 0)), "")))


def _of_finding(ctx: ViewContext, part: LoadedPart, fault: Fault, width: int) -> Iterator[Line]:
    yield Line(
        ((f" ! {ctx.signs.text(fault.name)}", "bold red"), (f"  {ctx.signs.text(f'{part.node} {fault.of}')}", "bold"))
    )
    yield from labelled("finding", fault_text(fault), ctx.signs, width)
    if line := ctx.burns.replay(part.node):
        yield from labelled("again", line, ctx.signs, width, "cyan")


def _courses(ctx: ViewContext, part: LoadedPart) -> Iterator[ListEntry]:
    for label, points, unit in histories(ctx, part):
        yield _entry(
            part, label, partial(line_of, ctx, label, points, unit), partial(drawn, ctx, label, points, unit),
            {"newest": f"{points[-1][1]:g}", "unit": unit},
        )  # fmt: skip


def _works(ctx: ViewContext, part: LoadedPart) -> Iterator[ListEntry]:
    for stage in part.works.values():
        words = ("stage", "test", "of", "status", "why", "hash")
        yield _entry(
            part, f"work {stage.stage} {stage.test} {stage.of}", partial(_work, ctx, stage),
            partial(_of_work, ctx, stage), {word: stage.word(word) for word in words if stage.word(word)},
        )  # fmt: skip


def _work(ctx: ViewContext, stage: Stage, width: int) -> Line:
    fit = ctx.signs.fit
    thing = f" {stage.of}" if stage.kind in {"peer", "numa"} else ""
    name = fit(f"{stage.stage} {stage.test}{thing}", 26)
    if not stage.done:
        why = fit(f"not tested: {stage.why}", max(width - 29, 0))
        return Line((("? ", "bold magenta"), (f"{name} ", ""), (why, "magenta")))
    rate, wrong = stage.number("rate"), stage.number("mismatches")
    message = scaled(rate, f"{stage.word('unit') or '1'}/s") if rate is not None else ""
    verified = (
        "checks no results" if wrong is None else "no wrong value" if not wrong else several(int(wrong), "wrong value")
    )
    sign, style = ("! ", "bold red") if wrong else ("= ", "green")
    checked = (fit(verified, max(width - 44, 0)), style if wrong else "dim")
    return Line(((sign, style), (f"{name} ", ""), (fit(message, 15), ""), checked))


def _of_work(ctx: ViewContext, stage: Stage, width: int) -> Iterator[Line]:
    yield Line(((f" {ctx.signs.text(f'{stage.stage} {stage.test}')}", "bold"), (f"  {ctx.signs.text(stage.of)}", "")))
    for name in ("status", "why", "hash", "unit"):
        yield from labelled(name, stage.word(name), ctx.signs, width)
    for name in sorted(stage.numbers):
        yield from labelled(name, f"{stage.numbers[name]:.9g}", ctx.signs, width, "dim")
