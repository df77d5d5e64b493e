"""A burn-in in the PDF: the data of tables for the template, and drawings."""

from collections.abc import Sequence

from rackcheck.model.fold import fold
from rackcheck.report import chart
from rackcheck.report.burn_model import BurnChart, BurnFault, BurnFigure, BurnLimit, BurnRow, BurnRun, BurnTable
from rackcheck.report.burn_words import again, ended, unverified
from rackcheck.report.pdf.listing import LINES, Json, bounded
from rackcheck.report.pdf.words import prose, text, where
from rackcheck.report.report_model import Dossier
from rackcheck.views.locations import Whole
from rackcheck.views.simulation import SIMULATED

THINGS = 16
"""Maximum number of parts of a kind that are all listed; if there are more, only parts with findings are listed."""

COLUMNS = 7
"""Maximum number of figures in one table; the page's width limits it."""


def burn(dossier: Dossier, of: Whole) -> Json | None:
    """Return the data of burn-ins for the template; None if there was no burn-in."""
    burned = dossier.burned
    if burned is None:
        return None
    faults = bounded(burned.faults, _fault)
    return {
        "runs": bounded(burned.runs, lambda run: _run(run, of)),
        "unverified": [text(rule) for rule in unverified(dossier)],
        "faults": {**faults, "more": faults["more"] + burned.more_faults},
        "untested": bounded(
            burned.untested,
            lambda u: {"what": text(u.what), "why": text(u.why), "things": u.things, "where": where(u.nodes, of)},
        ),
        "tables": [_table(table) for table in burned.tables],
        "limits": bounded(burned.limits, _limit),
        "charts": [_chart(each) for each in burned.charts],
    }


def drawings(dossier: Dossier) -> list[list[str]]:
    """Return the panels of each chart as SVG in ASCII; other characters become `?`, and only tables show them."""
    if dossier.burned is None:
        return []
    scales = chart.scales(dossier.burned.charts)
    look = chart.LARGE if len(dossier.burned.charts) == 1 else chart.STYLES
    return [
        [_ascii(chart.svg(each, panel, scales[panel.what], look)) for panel in each.panels]
        for each in dossier.burned.charts
    ]  # fmt: skip


def simulated(dossier: Dossier) -> str:
    """Return a note if the document is about a simulation, else an empty text."""
    return SIMULATED if dossier.simulated else ""


def _ascii(drawn: str) -> str:
    return drawn.encode("ascii", "replace").decode()


def _run(run: BurnRun, of: Whole) -> Json:
    return {
        "run": text(run.run), "tier": text(run.tier, 40), "seed": "" if run.seed is None else str(run.seed),
        "seconds": run.seconds, "version": text(run.version, 60), "simulated": run.simulated,
        "end": text(ended(run), 200), "where": where(run.nodes, of),
    }  # fmt: skip


def _fault(fault: BurnFault) -> Json:
    return {
        "name": text(fault.name, 60), "stage": text(fault.stage, 60), "node": text(fault.node),
        "item": text(fault.item, 80),
        "model": text(fault.model, 80), "serial": text(fault.serial, 80), "slot": text(fault.slot, 60),
        "text": text(fault.said), "count": fault.count, "again": text(" ".join(again(fault))),
    }  # fmt: skip


def _table(table: BurnTable) -> Json:
    listed: Sequence[BurnRow] = table.rows
    if len(listed) > THINGS:
        listed = [row for row in table.rows if row.odd][:THINGS]
    alone = len(table.rows) < 2
    parts = [range(n, min(n + COLUMNS, len(table.figures))) for n in range(0, len(table.figures), COLUMNS)]
    return {
        "kind": text(table.kind), "model": text(table.model, 80), "rows": len(table.rows),
        "figures": [_figure(figure) for figure in table.figures],
        "each": [] if alone else [
            {"heads": [f"{text(table.figures[n].name)} {text(table.figures[n].unit)}".strip() for n in part],
             "rows": [_row(row, part) for row in listed]}
            for part in parts if listed
        ],
        "more": 0 if alone else len(table.rows) - len(listed),
    }  # fmt: skip


def _row(row: BurnRow, part: range) -> Json:
    return {
        "node": text(row.node), "item": "" if row.item == "node" else text(row.item, 80), "odd": row.odd,
        "values": [row.values[n] if n < len(row.values) else "" for n in part],
    }  # fmt: skip


def _figure(figure: BurnFigure) -> Json:
    same = figure.lowest == figure.highest
    return {
        "name": prose(figure.name), "unit": text(figure.unit, 20), "note": prose(figure.note),
        "lowest": figure.lowest, "median": figure.median, "highest": figure.highest,
        "low": "" if same else _at(figure.low), "high": "" if same else _at(figure.high),
        "spread": "" if same else f"{figure.spread} {text(figure.apart, 20)}", "known": figure.known, "of": figure.of,
    }  # fmt: skip


def _limit(limit: BurnLimit) -> Json:
    same = limit.limit_low == limit.limit_high
    return {
        "name": prose(limit.name), "unit": text(limit.unit, 20), "rate": limit.rate, "known": limit.known,
        "of": limit.of,
        "limit": limit.limit_low if same else f"{limit.limit_low} to {limit.limit_high}",
        "lowest": limit.lowest, "median": limit.median, "highest": limit.highest,
        "low": "" if limit.lowest == limit.highest else _at(limit.low), "why": text(limit.why),
        "gaps": bounded(limit.gaps, lambda gap: {"text": text(gap.said), "things": gap.things}, 4),
    }  # fmt: skip


def _at(place: tuple[str, str]) -> str:
    node, item = place
    return text(node if item == "node" else f"{node} {item}".strip(), 100)


def _chart(each: BurnChart) -> Json:
    """Return the texts of a chart; the values of its curves are in the HTML page and in the record."""
    nodes = fold(each.nodes)
    return {
        "node": text(nodes, 150),
        "count": len(each.nodes),
        "findings": [text(message, 80) for message in each.findings],
        "panels": [
            {"what": text(panel.what), "unit": text(panel.unit, 20), "alt": text(chart.words(panel, nodes), 400)}
            for panel in each.panels[:LINES]
        ],
    }
