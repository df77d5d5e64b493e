"""Renders the cell of each node in a drawing of racks: outcome, temperature, power draw or drift.

Pure. All cells with measurements show the same fact: the fact that most nodes report. The cell of a measurement is a
digit from 0 for the lowest value to 9 for the highest value. The cell of an unknown value is `?`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import fsum, isfinite

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model import path as paths
from rackcheck.model import unit
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.tree import Tree
from rackcheck.views.signs import OUTCOME, Signs
from rackcheck.views.terminal import OUTCOMES, STYLES, Line


class Mode(StrEnum):
    """What the cells in a drawing of racks show: outcome, temperature, power draw, or the number of differing facts."""

    STATE = "state"
    TEMPERATURE = "temperature"
    POWER = "power"
    DRIFT = "drift"


@dataclass(frozen=True, slots=True)
class Cell:
    """A character with its style and its description; the character can be understood without colour."""

    sign: str
    style: str
    word: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """A fact that a mode can show; `whole` computes one number from the values of a node's items."""

    pattern: str
    plane: Plane
    unit: str
    label: str
    whole: Callable[[Iterable[float]], float] = max


MEASURES: Mapping[Mode, tuple[Measure, ...]] = {
    Mode.TEMPERATURE: (
        Measure("bmc.thermal.inlet", Plane.BMC, "C", "air intake"),
        Measure("gpu/*.temperature", Plane.OS, "C", "hottest GPU"),
        Measure("bmc.gpu/*.temperature", Plane.BMC, "C", "hottest GPU"),
        Measure("gpu.amd/*.temperature", Plane.OS, "C", "hottest GPU"),
        Measure("burnin.gpu/*.temperature", Plane.BURNIN, "C", "hottest GPU under load"),
        Measure("cpu.grace/*.temperature", Plane.OS, "C", "hottest CPU"),
        Measure("cpu.thermal/*.temperature", Plane.OS, "C", "hottest CPU"),
    ),
    Mode.POWER: (
        Measure("bmc.power.consumed", Plane.BMC, "W", "whole machine"),
        Measure("psu/*.input_power", Plane.BMC, "W", "total of its power supplies", fsum),
        Measure("gpu/*.power.draw", Plane.OS, "W", "total of its GPUs", fsum),
        Measure("bmc.gpu/*.power.draw", Plane.BMC, "W", "total of its GPUs", fsum),
        Measure("gpu.amd/*.power.draw", Plane.OS, "W", "total of its GPUs", fsum),
        Measure("burnin.gpu/*.tensor.power", Plane.BURNIN, "W", "total of its GPUs under load", fsum),
    ),
}
"""The facts that each mode can show; if the same number of nodes report several of these facts, the first is shown."""

REQUESTED = Cell(">", "bold cyan", "being read")
NOT_JUDGED = Cell("-", "dim", "not judged")
LEFT_OUT = Cell(".", "dim", "left out")
"""The cell of a node that a filter excludes; the node keeps its position."""

MOST = 9
"""Maximum number of differing facts that a cell shows as a digit; a higher number is shown as `+`."""

NodeReadings = Mapping[str, Reading]
"""The values of one node by fact pattern, for the facts that a mode can show."""


@dataclass(frozen=True)
class KnownNodes:
    """The readings and verdicts of the nodes so far, in a live or a stored run."""

    nodes: tuple[str, ...]
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    requested: frozenset[str] = frozenset()
    readings: Mapping[str, NodeReadings] = field(default_factory=dict)
    drift: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Picture:
    """The cell of every node, the legend of the characters, and the fact shown, if any."""

    cells: Mapping[str, Cell]
    legend: Line
    measure: Measure | None = None


def needs(mode: Mode) -> tuple[str, ...]:
    """Return the patterns of the facts that a mode can show; empty for the modes `state` and `drift`."""
    return tuple(measure.pattern for measure in MEASURES.get(mode, ()))


def mode_readings(mode: Mode, tree: Tree) -> dict[str, Reading]:
    """Return the values of one node for a mode; each value is a number, or the reason why there is no number."""
    return {measure.pattern: _read(measure, tree) for measure in MEASURES.get(mode, ())}


def picture(mode: Mode, seen: KnownNodes, signs: Signs) -> Picture:
    """Render the cell of every node; in the mode `drift`, `seen.drift` must contain the number of differing facts."""
    if mode is Mode.STATE:
        cells = {node: _state(node, seen, signs) for node in seen.nodes}
        return Picture(cells, Line(tuple(_met(cells.values()))))
    if mode is Mode.DRIFT:
        cells = {node: _drift(node, seen) for node in seen.nodes}
        return Picture(cells, _ended(cells, ("drift: facts that differ   0 none   + more than 9", "")))
    return _measured(mode, seen)


def _read(measure: Measure, tree: Tree) -> Reading:
    """Compute one number from the values of a node's items.

    If the value of any item is unknown, the result is unknown.
    """
    path = paths.parse(measure.pattern)
    if not path.starred:
        return _number(tree.reading(path, measure.plane))
    chosen = tree.select(path.collections[0], measure.plane)
    rest = path.segments[len(path.collections[0].segments) :]
    found = [_number(tree.reading(paths.Path(item.segments + rest), measure.plane)) for item in chosen.items]
    unknown = chosen.unknown or next((each for each in found if isinstance(each, Unknown)), None)
    numbers = [each for each in found if isinstance(each, float)]
    if unknown is not None:
        return unknown
    return _number(measure.whole(numbers)) if numbers else Absent(f"no {path.segments[0].word} reports this value")


def _number(reading: Reading) -> Reading:
    if isinstance(reading, Unknown | Absent):
        return reading
    if isinstance(reading, bool) or not isinstance(reading, int | float) or not isfinite(reading):
        return Unknown(Reason.UNPARSABLE, "not a number")
    return float(reading)


def _state(node: str, seen: KnownNodes, signs: Signs) -> Cell:
    outcome = seen.outcomes.get(node)
    if outcome is None:
        return REQUESTED if node in seen.requested else NOT_JUDGED
    return Cell(signs.status(OUTCOME[outcome]), OUTCOMES[outcome], outcome.value)


def _drift(node: str, seen: KnownNodes) -> Cell:
    count = seen.drift.get(node)
    if count is None:
        return REQUESTED if node in seen.requested else _unknown("not compared")
    if count <= 0:
        return Cell("0", "dim", "no fact differs")
    message = f"{count:,} fact{'' if count == 1 else 's'} differ{'s' if count == 1 else ''}"
    return Cell(str(count), "yellow", message) if count <= MOST else Cell("+", "bold yellow", message)


def _unknown(why: str) -> Cell:
    return Cell("?", STYLES[Status.UNKNOWN], why)


def _measured(mode: Mode, seen: KnownNodes) -> Picture:
    measure = max(MEASURES[mode], key=lambda each: sum(_has_value(seen, node, each) for node in seen.nodes))
    values = {n: value for n in seen.nodes if isinstance(value := seen.readings.get(n, {}).get(measure.pattern), float)}
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    cells: dict[str, Cell] = {}
    for node in seen.nodes:
        if node in values:
            digit = share(values[node], low, high)
            cells[node] = Cell(str(digit), _HEAT[digit], unit.spell(values[node], measure.unit))
        elif node in seen.requested:
            cells[node] = REQUESTED
        else:
            cells[node] = _without(seen.readings.get(node, {}).get(measure.pattern))
    if not seen.nodes:
        return Picture(cells, Line())
    if not values:
        return Picture(cells, _ended(cells, (f"{mode.value}: no node reports {' or '.join(needs(mode))}", "")))
    least, most = (unit.spell(each, measure.unit) for each in (low, high))
    scale = f"   0 to 9 = {least} to {most}" if low < high else f"   0 = {least}, all alike"
    shown = f"{mode.value}: {measure.pattern}, {measure.label}"
    return Picture(cells, _ended(cells, (shown, ""), (scale, "bold")), measure)


def share(value: float, low: float, high: float) -> int:
    """Scale a value between two limits to a digit: 0 for the lowest, 9 for the highest."""
    if not low < high:
        return 0
    if not isfinite(high - low):  # the difference is too large for a float
        value, low, high = value / 2, low / 2, high / 2
    return min(MOST, int((value - low) / (high - low) * 10))


_HEAT = ("cyan",) * 3 + ("",) * 3 + ("yellow",) * 2 + ("bold yellow",) * 2


def _has_value(seen: KnownNodes, node: str, measure: Measure) -> bool:
    return isinstance(seen.readings.get(node, {}).get(measure.pattern), float)


def _without(reading: Reading | None) -> Cell:
    if isinstance(reading, Absent):
        return Cell("-", "dim", str(reading))
    return _unknown(str(reading) if isinstance(reading, Unknown) else "not reported")


def _met(cells: Iterable[Cell]) -> Iterator[tuple[str, str]]:
    """Count the cells of each kind, the worst kind first."""
    counts: dict[Cell, int] = {}
    for cell in cells:
        counts[cell] = counts.get(cell, 0) + 1
    order = [Outcome.FAIL.value, Outcome.INCOMPLETE.value, REQUESTED.word, NOT_JUDGED.word, Outcome.PASS.value]
    for at, cell in enumerate(sorted(counts, key=lambda each: order.index(each.word))):
        yield f"{'   ' if at else ''}{cell.sign} {counts[cell]:,} {cell.word}", cell.style


def _ended(cells: Mapping[str, Cell], *pieces: tuple[str, str]) -> Line:
    """Append the kinds of cells without a number to the legend, each with its count."""
    ends = (("?", "not known", STYLES[Status.UNKNOWN]), ("-", "absent", "dim"), (">", "being read", REQUESTED.style))
    counts = [sum(cell.sign == sign for cell in cells.values()) for sign, _, _ in ends]
    rows = [(f"   {s} {c:,} {what}", style) for (s, what, style), c in zip(ends, counts, strict=True) if c]
    return Line((*pieces, *rows))
