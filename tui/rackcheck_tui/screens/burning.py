"""A burn-in, live or stored: each GPU and host under load with its power, temperature and findings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.evaluate.verdict import Status
from rackcheck.model.profile import Rule
from rackcheck.views.burning import Burns
from rackcheck.views.part import HOST, LoadedPart
from rackcheck.views.part_health import PartsRow, Rank, rows, seen
from rackcheck.views.summary import several
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.filtering import kept_nodes
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.screens.part import fault_text, histories, is_over, line_of, mark, stage_of
from rackcheck_tui.widgets.charts import bar, digits, limits, scaled, spark
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.words import labelled

MANY = 32
"""Maximum number of parts that each have their own row; with more parts, the passing parts of a node share one row."""

TOTAL = 40
"""Width of the chart of the total power, in cells."""

NAME, THING, STAGE, WATTS, DEGREES, CLOCK, RATE = 14, 6, 8, 5, 3, 4, 12


@dataclass(frozen=True, slots=True)
class Columns:
    """The width of the name column, and the range of temperature in all histories."""

    name: int
    low: float
    high: float


def shown(ctx: ViewContext, place: ViewState) -> ViewContent:
    """Show the parts of all nodes under load, or of one node."""
    burns = ctx.burns
    mine = [name for name in place.about[:1] if name in burns.benches]
    names = mine or list(burns.benches)
    kept, left_out = kept_nodes(ctx, names)
    found = rows(burns, rules_of(ctx), [n for n in names if n in kept], most=MANY, whole=ctx.every or bool(mine))
    temps = [
        (0.0, value) for part in burns.gpus() for value in (part.hottest, part.now.get("temp")) if value is not None
    ]
    low, high = limits(temps)
    columns = Columns(min(max(len(name) for name in (*kept, "node")), NAME), min(low, 30.0), high)
    entries = [_entry(ctx, row, columns) for row in found]
    state = "as it was" if ctx.desk.replays else "under load" if burns.running else "ended"
    of = mine[0] if mine else several(len(kept), "node")
    return ViewContent(
        ListEntries(entries, lambda width: _head(ctx, columns, width)),
        f"burn-in of {of}: {state}",
        "no node matches; / changes the filter" if names else "no node was put under load",
        left_out,
        tuple(above(ctx, burns)),
    )


def rules_of(ctx: ViewContext) -> Mapping[str, Rule]:
    """Return the rules of the profile by id."""
    return {rule.id: rule for rule in ctx.desk.profile.rules}


def above(ctx: ViewContext, burns: Burns) -> Iterator[Line]:
    """Format the total progress, the power, the hottest part and the number of faults; first, label a simulation."""
    length, power, hot, total = burns.length, burns.power, burns.hottest, burns.total()
    tier = burns.tier.value if burns.tier is not None else "burn-in"
    parts = [f"{tier} {burns.t:.0f} s" + (f" of {length:.0f}" if length is not None and burns.running else "")]
    if power is not None:
        count = sum("power" in part.now for part in burns.gpus())
        parts.append(f"{power / 1000:.1f} kW in {several(count, 'GPU')}")
    if hot is not None and hot.hottest is not None:
        parts.append(f"hottest {hot.hottest:.0f} C {hot.node} {hot.of}")
    label = (" SIMULATION ", "bold yellow") if burns.simulated else ("", "")
    found = (several(burns.wrong, "finding"), "bold red") if burns.wrong else ("no finding", "")
    yield Line((label, (f" {ctx.signs.text(', '.join(parts))}", "")))
    course = spark(total, TOTAL, 0.0, max((watts for _, watts in total), default=1.0), plain=ctx.signs.plain).rstrip()
    most = max((watts for _, watts in total), default=0.0) / 1000
    drawn = ((f"  {course}", ""), (f" at most {most:.1f} kW", "dim")) if total else ()
    yield Line(((" ", ""), found, *drawn))


def _head(ctx: ViewContext, columns: Columns, width: int) -> Line:
    bars, sparks, state = _rooms(columns, width)
    live = ctx.burns.running
    items = (
        ("node", columns.name), ("part", THING), ("stage", STAGE), ("power W" if live else "peak W", bars + WATTS + 1),
        ("temp C" if live else "peak C", sparks + DEGREES + 1), ("GHz", CLOCK), ("rate", RATE), ("state", state),
    )  # fmt: skip
    return Line(((f"  {' '.join(ctx.signs.fit(word, room) for word, room in items)}", "dim"),))


def _rooms(columns: Columns, width: int) -> tuple[int, int, int]:
    """Divide a width between bar, history and state."""
    room = max(width - columns.name - THING - STAGE - WATTS - DEGREES - CLOCK - RATE - 11, 8)
    bars = max(min(room // 5, 12), 3)
    sparks = max(min(room // 5, 24), 4)
    return bars, sparks, max(room - bars - sparks, 0)


def _entry(ctx: ViewContext, row: PartsRow, columns: Columns) -> ListEntry:
    first, alone = row.parts[0], len(row.parts) == 1
    into = ViewState("load", (first.node, first.of)) if alone else ViewState("load", (first.node,))
    return ListEntry(
        row.name,
        lambda width: _line(ctx, row, columns, width),
        lambda width: list(details(ctx, row, width)),
        (first.node,),
        into,
        row.bearing.rule,
        cells={"part": thing(row), "stage": stage_of(ctx, first), "state": row.bearing.words, **numbers(row)},
    )


def numbers(row: PartsRow) -> Mapping[str, str]:
    """Return a row's measurements for export: power, highest temperature, lowest clock."""
    parts = [part for part in row.parts if _of_kind(part, row)]
    power, clock = ([p.now[name] for p in parts if name in p.now] for name in ("power", "clock"))
    found = {
        "power_w": sum(power) if power else None, "clock_hz": min(clock) if clock else None,
        "hottest_c": max((p.hottest for p in parts if p.hottest is not None), default=None),
    }  # fmt: skip
    return {name: f"{value:g}" for name, value in found.items() if value is not None}


def thing(row: PartsRow) -> str:
    """Return the name of a row's subject: one part, or the number of GPUs."""
    gpus = sum(part.of != HOST for part in row.parts)
    return row.parts[0].of if len(row.parts) == 1 else f"{gpus} GPUs" if gpus > 1 else "rest"


def _of_kind(part: LoadedPart, row: PartsRow) -> bool:
    """Return whether a part is of the row's kind; for a row with GPUs and their host, whether the part is a GPU."""
    return part.of != HOST or all(each.of == HOST for each in row.parts)


def _line(ctx: ViewContext, row: PartsRow, columns: Columns, width: int) -> Line:
    signs, (bars, sparks, state) = ctx.signs, _rooms(columns, width)
    parts = [part for part in row.parts if _of_kind(part, row)]
    over = is_over(ctx, parts[0])
    lead = max(parts, key=lambda part: part.shown("temp", over=over) or 0.0)
    sign, style = mark(ctx, row.bearing)
    clocks = [clock for part in parts if (clock := part.shown("clock", over=over)) is not None]
    temp = lead.shown("temp", over=over)
    history = spark(lead.past.column("temp"), sparks, columns.low, columns.high, plain=signs.plain)
    items = (
        (sign, style), (signs.fit(parts[0].node, columns.name), "bold"), (signs.fit(thing(row), THING), ""),
        (signs.fit(stage_of(ctx, parts[0]), STAGE), "cyan"), (_power(ctx, parts, bars), ""),
        (f"{_whole(temp):>{DEGREES}}", ""), (history, "dim"), (f"{_giga(clocks):>{CLOCK}}", ""),
        (signs.fit(_rate(parts, over=over), RATE), ""),
        (signs.fit(row.bearing.words, state), style if row.bearing.rank is not Rank.FINE else ""),
    )  # fmt: skip
    return Line(tuple((f"{text} ", style) for text, style in items))


def _whole(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _giga(clocks: Sequence[float]) -> str:
    """Format the lowest value in `clocks` (Hz), in GHz."""
    return digits(min(clocks) / 1e9) if clocks else ""


def _power(ctx: ViewContext, parts: Sequence[LoadedPart], room: int) -> str:
    """Draw the power of parts relative to their limits; without a limit, format a number without a bar."""
    over = is_over(ctx, parts[0])
    items = [watts for part in parts if part.of != HOST and (watts := part.shown("power", over=over)) is not None]
    if not items:
        watts = ctx.burns.benches[parts[0].node].air.get("power") if parts[0].of == HOST else None
        return f"{'':<{room}} {'' if watts is None else f'{watts:.0f}':>{WATTS}}"
    most = [part.limit for part in parts if part.limit is not None]
    drawn = bar(sum(items) / sum(most), room, plain=ctx.signs.plain) if len(most) == len(items) else " " * room
    return f"{drawn} {sum(items):>{WATTS}.0f}"


def _rate(parts: Sequence[LoadedPart], *, over: bool) -> str:
    """Format the rate of the last work; if several parts did the same work, the slowest rate."""
    works = [work for part in parts if (work := part.main_work(over=over)) is not None]
    if not works:
        return ""
    first = works[-1]
    alike = [w.number("rate") for w in works if (w.stage, w.test) == (first.stage, first.test)]
    return scaled(min(rate for rate in alike if rate is not None), f"{first.word('unit') or '1'}/s")


def details(ctx: ViewContext, row: PartsRow, width: int) -> Iterator[Line]:
    """Yield the result, faults and histories of one part; for several parts, show the range of their values."""
    sign, style = mark(ctx, row.bearing)
    first = row.parts[0]
    name, model = (
        f"  {ctx.signs.text(f'{first.node} {thing(row)}')}  ",
        str(first.about.get("model") or first.about.get("cpu") or ""),
    )
    words = ctx.signs.text(row.bearing.words, max(width - len(name) - 4, 0))
    room = max(width - len(name) - len(words) - 4, 0)
    yield Line(((f" {sign} {words}", style), (name, "bold"), (ctx.signs.fit(model, room).rstrip(), "dim")))
    if len(row.parts) > 1:
        yield from _spreads(ctx, row, width)
        return
    if row.bearing.rule:
        yield from labelled("result", _reason(ctx, row), ctx.signs, width)
    for fault in first.faults[:2]:
        yield from labelled(ctx.signs.text(fault.name, 20), fault_text(fault), ctx.signs, width, "bold red")
    if first.untested is not None and row.bearing.status is not Status.PASS:
        yield from labelled("not tested", f"{first.untested.stage}: {first.untested.why}", ctx.signs, width, "magenta")
    for label, points, unit in histories(ctx, first):
        yield line_of(ctx, label, points, unit, width)


def _reason(ctx: ViewContext, row: PartsRow) -> str:
    bench = ctx.burns.benches[row.parts[0].node]
    found = bench.judged.verdicts if bench.judged is not None else ()
    return next(
        (seen(verdict, row.parts[0].of, bench.numbers) for verdict in found if verdict.rule == row.bearing.rule), ""
    )


def _spreads(ctx: ViewContext, row: PartsRow, width: int) -> Iterator[Line]:
    for column, unit, factor in (("power", "W", 1.0), ("temp", "C", 1.0), ("clock", "GHz", 1e9)):
        values = sorted(p.now[column] / factor for p in row.parts if column in p.now and _of_kind(p, row))
        if values:
            half = digits(values[len(values) // 2])
            message = f"{digits(values[0])} to {digits(values[-1])} {unit}, half of them {half} or more"
            yield from labelled(column, message, ctx.signs, width)
    yield from labelled("parts", ", ".join(part.of for part in row.parts), ctx.signs, width, "dim")
