"""Texts and charts of one part under load that several views use: its symbol, its faults, its histories."""

from collections.abc import Iterator, Sequence

from rackcheck.model.burn_record import Fault
from rackcheck.parse.burnin.readings import described
from rackcheck.views.part import HOST, LoadedPart
from rackcheck.views.part_health import Bearing, Rank
from rackcheck.views.terminal import STYLES, Line
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.charts import ChartPoints, chart, digits, limits, spark

STYLE = {Rank.WRONG: "bold red", Rank.UNKNOWN: "bold magenta", Rank.ODD: "yellow", Rank.FINE: "green"}
SIGN = {Rank.WRONG: "!", Rank.UNKNOWN: "?", Rank.ODD: "~", Rank.FINE: "="}
"""Symbols of parts without a verdict; each verdict has its own symbol."""

HEIGHT = 6
"""Height of a chart, in lines."""

STEPS = {"C": 10.0, "W": 100.0, "GHz": 0.5}
"""Minimum range of a chart, by unit, so that noise does not look like a trend."""


def is_over(ctx: ViewContext, part: LoadedPart) -> bool:
    """Return whether the load on a part's node has ended."""
    bench = ctx.burns.benches[part.node]
    return bench.over or bool(bench.ended)


def stage_of(ctx: ViewContext, part: LoadedPart) -> str:
    """Return the name of a part's stage; `ended` if the load on its node has ended."""
    return "ended" if is_over(ctx, part) else part.under_way(ctx.burns.plan)


def mark(ctx: ViewContext, bearing: Bearing) -> tuple[str, str]:
    """Return the symbol of a part's state, and the symbol's style."""
    if bearing.status is not None:
        return ctx.signs.status(bearing.status), STYLES[bearing.status]
    return SIGN[bearing.rank], STYLE[bearing.rank]


def fault_text(fault: Fault) -> str:
    """Format all fields of a fault: `gpu/6 mismatch, in memory, at 0x3f2a41c00, ..., SM 68, after 4.4 s`."""
    numbers = (f"{name} {fault.number(name):.0f}" for name in NUMBERS if fault.number(name) is not None)
    words = (f"{name} {fault.word(name)}" for name in WORDS if fault.word(name))
    return ", ".join((described(fault), *numbers, *words, f"after {fault.t:.1f} s"))


NUMBERS, WORDS = ("xid", "cpu", "temp", "limit", "code", "more"), ("hash", "theirs", "pattern", "line")
"""Optional fields of a fault, in addition to the fields that `described` formats."""


def histories(ctx: ViewContext, part: LoadedPart) -> Iterator[tuple[str, ChartPoints, str]]:
    """Yield a part's values over time: a name, the points, their unit. A host's power is measured by its BMC."""
    bench = ctx.burns.benches[part.node]
    power = bench.bmc.column("power") if part.of == HOST else part.past.column("power")
    found: tuple[tuple[str, ChartPoints, str], ...] = (
        ("power", power, "W"), ("temp", part.past.column("temp"), "C"),
        ("clock", [(t, value / 1e9) for t, value in part.past.column("clock")], "GHz"),
        ("memory", part.past.column("memory_temp"), "C"), ("inlet", bench.bmc.column("inlet"), "C"),
    )  # fmt: skip
    yield from (each for each in found if each[1])


def line_of(ctx: ViewContext, label: str, points: ChartPoints, unit: str, width: int) -> Line:
    """Draw a history in one line: its name, its latest value, its chart, and its range."""
    values = [value for _, value in points]
    low, high = min(values), max(values)
    ends = f" {digits(low)} to {digits(high)} {unit}"
    now = f"{digits(values[-1])} {unit}"
    room = max(width - 22 - len(ends), 0)
    drawn = spark(points, room, low, high or 1.0, plain=ctx.signs.plain)
    return Line(((f" {label:<8}", "dim"), (f"{now:>11} ", "bold"), (drawn, ""), (ends, "dim")))


def drawn(ctx: ViewContext, label: str, points: ChartPoints, unit: str, width: int) -> Sequence[Line]:
    """Draw a history over several lines, with its range and its first and last time."""
    low, high = limits(points, STEPS.get(unit, 1.0))
    margin = 8
    rows = chart(points, max(width - margin - 2, 8), HEIGHT, low, high, plain=ctx.signs.plain)
    side = [""] * HEIGHT
    side[0], side[-1] = f"{high:g}", f"{low:g}"
    edge = "|" if ctx.signs.plain else "│"
    lines = [
        Line(((f"{text:>{margin - 1}} ", "dim"), (edge, "dim"), (row, "cyan")))
        for text, row in zip(side, rows, strict=True)
    ]
    begin, end = points[0][0], points[-1][0]
    first = f"{begin:.0f} s"
    foot = f"{first}{f'{end:.0f} s':>{max(width - margin - 2 - len(first), 1)}}"
    return [
        Line(((f" {label}", "bold"), (f" in {unit}", "dim"))),
        *lines,
        Line(((" " * (margin + 1), ""), (foot, "dim"))),
    ]
