"""The charts of a burn-in for the HTML page: SVG with CSS classes for the page's colours."""

from collections.abc import Mapping

from markupsafe import Markup

from rackcheck.model.fold import fold
from rackcheck.report import chart
from rackcheck.report.burn_model import BurnChart
from rackcheck.report.report_model import Dossier


def drawn(dossier: Dossier) -> Mapping[tuple[int, BurnChart], Markup]:
    """Return the SVG of every panel in a dictionary; each key is the index of the panel and its chart."""
    if dossier.burned is None:
        return {}
    scales = chart.scales(dossier.burned.charts)
    return {
        (number, each): Markup(  # noqa: S704  drawn by us, every text in it escaped
            chart.svg(each, panel, scales[panel.what], chart.CLASSES, chart.words(panel, fold(each.nodes)))
        )
        for each in dossier.burned.charts
        for number, panel in enumerate(each.panels)
    }
