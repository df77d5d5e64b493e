"""Chooses which curves of burn-ins a document shows: charts of some nodes, and an envelope of all other nodes. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rackcheck.model.text import natural
from rackcheck.parse.burnin.series import FAN, Series, SeriesPoints, envelope
from rackcheck.report.burn_model import BurnBand, BurnChart, BurnLine, BurnPanel
from rackcheck.report.burn_read import Burnt

NODES = 12
"""Maximum number of nodes with a separate chart."""

LINES = 16
"""Maximum number of curves without a finding in a panel, and of curves with a finding.

If there are more curves without a finding, their envelope is drawn; more curves with a finding join the others.
"""

GPUS = (("power", "GPU power", "W"), ("temp", "GPU temperature", "°C"), ("clock", "GPU clock", "MHz"))

NODE = (("temp", "CPU temperature", "°C"), ("clock", "CPU clock", "MHz"), ("load", "CPU load", "tasks"))
"""Columns of samples (with title and unit) that are drawn if no GPU has samples."""

INLET = "air at the intake"


def charts(latest: Sequence[Burnt]) -> tuple[BurnChart, ...]:
    """Return a chart per node, nodes with findings first; all nodes after the first NODES share one chart."""
    drawn = [burnt for burnt in latest if burnt.curves]
    first = sorted(drawn, key=lambda burnt: (-_weight(burnt), natural(burnt.node)))
    if len(first) <= NODES:
        return tuple(_chart(burnt) for burnt in first)
    return (*(_chart(burnt) for burnt in first[:NODES]), _rest(first[NODES:]))


def _weight(burnt: Burnt) -> int:
    """Return a node's weight for sorting: 2 if its records contain faults, plus 1 if rules have findings on it."""
    return 2 * bool(burnt.wrong) + bool(burnt.odd or burnt.failed)


def _chart(burnt: Burnt) -> BurnChart:
    odd = burnt.odd | {wrong.item for wrong in burnt.wrong}
    findings = [f"{wrong.item} {wrong.name}" for wrong in burnt.wrong] + list(burnt.failed)
    bands = tuple(BurnBand(band.side, band.stage, _ms(band.begin), _ms(band.end)) for band in burnt.bands)
    return BurnChart((burnt.node,), tuple(dict.fromkeys(findings))[:6], bands, tuple(_panels([burnt], odd)))


def _rest(burnts: Sequence[Burnt]) -> BurnChart:
    """Return one chart for many nodes: the lowest, median and highest values of all their curves."""
    nodes = tuple(burnt.node for burnt in sorted(burnts, key=lambda burnt: natural(burnt.node)))
    bands = tuple(BurnBand(b.side, b.stage, _ms(b.begin), _ms(b.end)) for b in burnts[0].bands)
    return BurnChart(nodes, (), bands, tuple(_panels(burnts, frozenset())))


def _panels(burnts: Sequence[Burnt], odd: frozenset[str] | set[str]) -> Iterator[BurnPanel]:
    found: dict[tuple[str, str], list[Series]] = defaultdict(list)
    for burnt in burnts:
        for curve in burnt.curves:
            found[curve.of.partition("/")[0], curve.column].append(curve)
    kind, panels = ("gpu", GPUS) if any(key[0] == "gpu" for key in found) else ("node", NODE)
    inlet = found.get(("bmc", "inlet"), [])
    fans = [
        curve for (of, column), curves in found.items() if of == "bmc" and column.startswith(FAN) for curve in curves
    ]
    for column, what, unit in panels:
        curves = found.get((kind, column), [])
        if curves:
            air = _air(inlet) if column == "temp" else ()
            yield BurnPanel(what, unit, (*_lines(curves, odd, single=len(burnts) == 1), *air))
    if fans:
        yield BurnPanel("fans", "rpm", tuple(_lines(fans, frozenset(), single=len(burnts) == 1)))


def _lines(curves: Sequence[Series], odd: frozenset[str] | set[str], *, single: bool) -> Iterator[BurnLine]:
    """Yield curves, or their envelope if there are too many; curves with a finding are last, and so drawn on top."""
    own = [curve for curve in curves if single and curve.of in odd][:LINES]
    peers = [curve for curve in curves if curve not in own] if own else list(curves)
    if single and len(peers) <= LINES:
        yield from (BurnLine(_name(curve), "plain", points(curve.points)) for curve in peers)
    else:
        for role, found in zip(("lowest", "median", "highest"), envelope([c.points for c in peers]), strict=True):
            yield BurnLine(f"{role} of {len(peers)}", role, points(found))
    yield from (BurnLine(_name(curve), "odd", points(curve.points)) for curve in own)


def _air(inlet: Sequence[Series]) -> tuple[BurnLine, ...]:
    if not inlet:
        return ()
    rows = inlet[0].points if len(inlet) == 1 else envelope([curve.points for curve in inlet])[1]
    return (BurnLine(INLET, "inlet", points(rows)),)


def _name(curve: Series) -> str:
    kind, _, key = curve.of.partition("/")
    if curve.column.startswith(FAN):
        return curve.column.removeprefix(FAN)
    return f"GPU {key}" if kind == "gpu" else "CPU" if kind == "node" else curve.of


def points(found: SeriesPoints) -> str:
    """Format points as in `BurnLine.points`: pairs of milliseconds and tenths of the unit."""
    return " ".join(f"{_ms(t)},{round(value * 10)}" for t, value in found)


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
