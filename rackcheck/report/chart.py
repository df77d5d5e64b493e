"""Draws curves as SVG: the same drawing for HTML and PDF, without script and without embedded fonts.

A curve with a finding is heavier and labelled, the inlet air temperature is dashed, and an envelope is filled, so that
colour is never the only difference. Panels with the same title have the same scale in all charts of a document, so that
they can be compared.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from rackcheck.model.fact import visible
from rackcheck.report.burn_model import BurnBand, BurnChart, BurnLine, BurnPanel, figure

WIDE, HIGH = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 84, 112, 42, 50
"""Margins of the drawing outside the axes, in SVG units; one unit is half a point on paper."""

LETTER = 14.0
"""Maximum average width of a letter in a label, in SVG units."""

GAP = 27
"""Vertical distance between two labels at the ends of curves, in SVG units."""

LABEL = 7
"""Maximum number of characters of a label at the end of a curve."""

STYLES: Mapping[str, str] = {
    "plain": 'fill="none" stroke="#8b949e" stroke-width="1.2"',
    "odd": 'fill="none" stroke="#a3200d" stroke-width="4.5"',
    "inlet": 'fill="none" stroke="#1d4f7c" stroke-width="3" stroke-dasharray="10 6"',
    "median": 'fill="none" stroke="#1d4f7c" stroke-width="3"',
    "range": 'fill="#d3dae2"',
    "band": 'fill="#f1f3f6"',
    "grid": 'fill="none" stroke="#dde1e6" stroke-width="1.5"',
    "axis": 'fill="none" stroke="#525a64" stroke-width="1.5"',
    "word": 'font-family="DejaVu Sans Mono" font-size="24" fill="#525a64"',
    "name": 'font-family="DejaVu Sans Mono" font-size="24" font-weight="bold" fill="#a3200d"',
}
"""SVG attributes of each kind of mark in the PDF; the HTML page uses CSS classes instead."""

LARGE = {name: style.replace('font-size="24"', 'font-size="16"') for name, style in STYLES.items()}
"""STYLES with a smaller font, for a chart as wide as the page."""

CLASSES = {name: f'class="ch-{name}"' for name in STYLES}


@dataclass(frozen=True, slots=True)
class AxisScale:
    """The ranges of the time axis (milliseconds) and of the value axis (tenths of the unit).

    `step` is the interval of the marks on the value axis.
    """

    begin: int
    end: int
    low: float
    high: float
    step: float

    def x(self, ms: int) -> int:
        """Return the x position of a time."""
        part = (min(max(ms, self.begin), self.end) - self.begin) / (self.end - self.begin)
        return round(LEFT + part * (WIDE - LEFT - RIGHT))

    def y(self, tenths: float) -> int:
        """Return the y position of a value."""
        return round(HIGH - BOTTOM - (tenths - self.low) / (self.high - self.low) * (HIGH - TOP - BOTTOM))


def scales(charts: Sequence[BurnChart]) -> Mapping[str, AxisScale]:
    """Return one scale for each panel title; the panels with this title share it in all charts."""
    found: dict[str, list[tuple[int, int]]] = {}
    for chart in charts:
        for panel in chart.panels:
            found.setdefault(panel.what, []).extend(point for line in panel.lines for point in points(line))
    times = [t for rows in found.values() for t, _ in rows]
    begin, end = (min(times), max(times)) if times else (0, 0)
    end = max(end, begin + 1000)
    return {what: _scale(begin, end, [value for _, value in rows]) for what, rows in found.items()}


def points(line: BurnLine) -> list[tuple[int, int]]:
    """Return the points of a curve as pairs of milliseconds and tenths of the unit."""
    pairs = (pair.split(",") for pair in line.points.split())
    return [(int(t), int(value)) for t, value in pairs]


def svg(chart: BurnChart, panel: BurnPanel, scale: AxisScale, look: Mapping[str, str] = STYLES, text: str = "") -> str:
    """Return one panel as SVG; `look` maps each kind of mark to its SVG attributes, `text` is the text alternative."""
    label = f' role="img" aria-label="{_text(text)}"' if text else ""
    marks = [*_bands(chart, panel, scale, look), *_axes(scale, look), *_lines(panel, scale, look)]
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}"{label}>{"".join(marks)}</svg>'


def spans(chart: BurnChart) -> list[tuple[str, tuple[str, ...]]]:
    """Return a chart as table rows: the name of each curve, and its lowest and highest value in each panel."""
    names = list(dict.fromkeys(line.name for panel in chart.panels for line in panel.lines))
    rows = [{line.name: _span(line) for line in panel.lines} for panel in chart.panels]
    return [(name, tuple(each.get(name, "") for each in rows)) for name in names]


def words(panel: BurnPanel, where: str) -> str:
    """Describe what a panel shows, as a text alternative."""
    rows = [point for line in panel.lines for point in points(line)]
    if not rows:
        return f"{panel.what} of {where}: no samples"
    values = [value for _, value in rows]
    seconds = (max(t for t, _ in rows) - min(t for t, _ in rows)) / 1000
    ends = f"from {figure(min(values) / 10)} to {figure(max(values) / 10)} {panel.unit} over {seconds:.0f} s"
    odd = "; ".join(f"{line.name} {_span(line)}" for line in panel.lines if line.role == "odd")
    return f"{panel.what} of {where}: {ends}{f'; {odd}' if odd else ''}"


def _span(line: BurnLine) -> str:
    values = [value for _, value in points(line)]
    if not values:
        return ""
    low, high = figure(min(values) / 10), figure(max(values) / 10)
    return low if low == high else f"{low} to {high}"


def _scale(begin: int, end: int, values: Sequence[int]) -> AxisScale:
    low, high = (min(values), max(values)) if values else (0, 10)
    if 0 < low < 0.6 * high:
        low = 0
    step = _step((high - low) or max(abs(high), 10))
    return AxisScale(begin, end, math.floor(low / step) * step, (math.floor(high / step) + 1) * step, step)


def _step(wide: float) -> float:
    """Return a round axis interval that gives three to six marks."""
    tens = 10.0 ** math.floor(math.log10(wide / 4))
    return next(tens * part for part in (1, 2, 5, 10) if wide / (tens * part) <= 5)


def _bands(chart: BurnChart, panel: BurnPanel, scale: AxisScale, look: Mapping[str, str]) -> Iterator[str]:
    side = "cpu" if panel.what.startswith("CPU") else "gpu"
    kept: list[BurnBand] = [band for band in chart.bands if band.side == side] or list(chart.bands)
    for number, band in enumerate(kept):
        left, right = scale.x(band.begin), scale.x(band.end)
        if right <= left:
            continue
        if number % 2 == 0:
            yield f'<rect {look["band"]} x="{left}" y="{TOP}" width="{right - left}" height="{HIGH - TOP - BOTTOM}"/>'
        stage = visible(band.stage)
        if len(stage) * LETTER <= right - left + 4:
            yield _word(look["word"], (left + right) // 2, TOP - 10, stage, "middle")


def _axes(scale: AxisScale, look: Mapping[str, str]) -> Iterator[str]:
    right, floor = WIDE - RIGHT, HIGH - BOTTOM
    for number in range(round((scale.high - scale.low) / scale.step) + 1):
        value = scale.low + number * scale.step
        at = scale.y(value)
        yield f'<path {look["grid"]} d="M{LEFT},{at}H{right}"/>'
        yield _word(look["word"], LEFT - 8, at + 8, figure(value / 10), "end")
    yield f'<path {look["axis"]} d="M{LEFT},{floor}H{right}"/>'
    step = max(1000.0, _step(scale.end - scale.begin))
    first = math.ceil(scale.begin / step)
    for number in range(first, min(first + 12, math.floor(scale.end / step) + 1)):
        at = scale.x(round(number * step))
        yield f'<path {look["axis"]} d="M{at},{floor}v6"/>'
        yield _word(look["word"], at, floor + 34, figure(number * step / 1000), "middle")
    yield _word(look["word"], right + 30, floor + 34, "s", "start")


def _lines(panel: BurnPanel, scale: AxisScale, look: Mapping[str, str]) -> Iterator[str]:
    by_role = {line.role: line for line in panel.lines}
    if {"lowest", "highest"} <= by_role.keys():
        edge = [*points(by_role["highest"]), *reversed(points(by_role["lowest"]))]
        yield f'<polygon {look["range"]} points="{_path(edge, scale)}"/>'
    for role in ("plain", "median", "inlet", "odd"):
        for line in panel.lines:
            if line.role == role and line.points:
                yield f'<polyline {look[role]} points="{_path(points(line), scale)}"/>'
    yield from _names(panel, scale, look)


def _path(rows: Sequence[tuple[int, int]], scale: AxisScale) -> str:
    drawn = [f"{scale.x(t)},{scale.y(value)}" for t, value in rows]
    return " ".join(point for n, point in enumerate(drawn) if n == 0 or point != drawn[n - 1])


def _names(panel: BurnPanel, scale: AxisScale, look: Mapping[str, str]) -> Iterator[str]:
    """Yield labels, without overlap, at the right ends of curves with a finding and of the inlet air curve."""
    ends = [
        (scale.y(points(line)[-1][1]), line) for line in panel.lines if line.role in {"odd", "inlet"} and line.points
    ]
    last = -math.inf
    for at, line in sorted(ends, key=lambda end: (end[0], end[1].name)):
        last = max(at + 8, last + GAP)
        message = visible(line.name if line.role == "odd" else "intake")
        name = message if len(message) <= LABEL else f"{message[: LABEL - 1]}~"
        if last < HIGH:
            yield _word(look["name" if line.role == "odd" else "word"], WIDE - RIGHT + 6, round(last), name, "start")


def _word(look: str, x: int, y: int, message: str, anchor: str) -> str:
    return f'<text {look} x="{x}" y="{y}" text-anchor="{anchor}">{_text(message)}</text>'


def _text(message: str) -> str:
    return escape(visible(message))
