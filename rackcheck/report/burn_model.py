"""The work and findings of burn-ins as report values: identical nodes are combined, and lists are limited in length.

Numbers are texts, formatted by `figure`. An empty text was not reported or not tested; it never means 0.
"""

import math
from dataclasses import dataclass

FIGURE = r"^(-?[0-9]{1,15}(\.[0-9]{1,6})?)?$"
"""A number as formatted by `figure`, or empty."""

POINTS = r"^(-?[0-9]{1,12},-?[0-9]{1,12}( -?[0-9]{1,12},-?[0-9]{1,12})*)?$"
"""Pattern of the points of a curve: milliseconds and tenths of the unit."""

ROLES = ("plain", "odd", "inlet", "lowest", "median", "highest")
"""Roles of a line: a curve without a finding, a curve with a finding, the inlet air, or a part of an envelope."""


def figure(value: float) -> str:
    """Format a number with four significant digits; large numbers are whole, numbers out of range give no text."""
    if not math.isfinite(value) or abs(value) >= 1e15:
        return ""
    whole = len(f"{abs(value):.0f}") if abs(value) >= 1 else 0
    message = f"{value:.{max(0, min(6, 4 - whole)) if abs(value) >= 0.001 else 6}f}"
    message = message.rstrip("0").rstrip(".") if "." in message else message
    return "0" if message in {"-0", ""} else message


def unit(text: str) -> str:
    """Return a unit as printed."""
    return {"C": "°C"}.get(text, text)


@dataclass(frozen=True, slots=True)
class BurnRun:
    """A burn-in with the same settings on some nodes: `seconds` is the longest duration, `why` why it ended early."""

    run: str
    tier: str
    seed: int | None
    seconds: str
    version: str
    ended: str
    why: str
    nodes: tuple[str, ...]
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class BurnUntested:
    """Work that was not done, and why; numbers that differ between nodes are shown as a range."""

    what: str
    why: str
    things: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BurnFault:
    """A fault of one part, with the number of reports; `seed` and `tier` reproduce the work.

    `item` is `gpu/6`, `slot` the PCI address, `said` the location in the part and the actual and expected values.
    """

    node: str
    item: str
    name: str
    stage: str
    model: str
    serial: str
    slot: str
    said: str
    count: int
    seed: int | None
    tier: str


@dataclass(frozen=True, slots=True)
class BurnFigure:
    """One figure of all parts of a kind; `of` is the number of parts, `known` the number of parts with the figure.

    `low` and `high` are the node and item with the lowest and the highest value. `spread` is the difference of these
    values in the unit `apart`: % of the highest value, or the figure's unit if a share is meaningless. `note` is a
    remark.
    """

    name: str
    unit: str
    help: str
    known: int
    of: int
    lowest: str
    median: str
    highest: str
    spread: str
    apart: str
    low: tuple[str, str]
    high: tuple[str, str]
    note: str = ""


@dataclass(frozen=True, slots=True)
class BurnRow:
    """One part with its figures, in the table's order; `odd` if the part has a finding."""

    node: str
    item: str
    serial: str
    slot: str
    odd: bool
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BurnTable:
    """Parts of one kind and one model: the figures of all of them together, and of each part."""

    kind: str
    model: str
    figures: tuple[BurnFigure, ...]
    rows: tuple[BurnRow, ...]


@dataclass(frozen=True, slots=True)
class BurnGap:
    """An observed reason why some parts stayed below their limit."""

    said: str
    things: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BurnLimit:
    """A figure and its physical limit, both in `unit`; `reached` is in % of each part's own limit."""

    name: str
    model: str
    unit: str
    known: int
    of: int
    rate: str
    limit_low: str
    limit_high: str
    lowest: str
    median: str
    highest: str
    low: tuple[str, str]
    gaps: tuple[BurnGap, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class BurnLine:
    """One curve: `role` is one of ROLES, `points` are `ms,tenths` separated by blanks."""

    name: str
    role: str
    points: str


@dataclass(frozen=True, slots=True)
class BurnPanel:
    """Curves that share a scale: `what` is its name; `more` counts curves that are not drawn."""

    what: str
    unit: str
    lines: tuple[BurnLine, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class BurnBand:
    """A stage, with begin and end in milliseconds."""

    side: str
    stage: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class BurnChart:
    """Curves of one node, or an envelope of several nodes; `findings` are the findings on these nodes."""

    nodes: tuple[str, ...]
    findings: tuple[str, ...]
    bands: tuple[BurnBand, ...]
    panels: tuple[BurnPanel, ...]


@dataclass(frozen=True, slots=True)
class Burned:
    """Everything in the document about burn-ins; `more_faults` is the number of faults that are not listed."""

    runs: tuple[BurnRun, ...]
    untested: tuple[BurnUntested, ...]
    faults: tuple[BurnFault, ...]
    more_faults: int
    tables: tuple[BurnTable, ...]
    limits: tuple[BurnLimit, ...]
    charts: tuple[BurnChart, ...]
