"""The work and findings of a burn-in, as values of the document: folded over nodes, and bounded.

Numbers are texts as shown, formatted by `figure`. An empty one was not reported or not tested; it never means 0.
"""

import math
from dataclasses import dataclass

FIGURE = r"^(-?[0-9]{1,15}(\.[0-9]{1,6})?)?$"
"""A number as formatted by `figure`, or empty."""

POINTS = r"^(-?[0-9]{1,12},-?[0-9]{1,12}( -?[0-9]{1,12},-?[0-9]{1,12})*)?$"
"""Points of a curve: milliseconds and tenths of the unit."""

ROLES = ("plain", "odd", "inlet", "lowest", "median", "highest")
"""The role of a line: one of several alike, one with a finding, the inlet air, or a part of an envelope."""


def figure(value: float) -> str:
    """Format a number with four significant digits; large ones whole, those out of range as empty."""
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
    """A burn-in as run alike on some nodes: `seconds` is the longest, `why` the reason of an early end."""

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
    """Work that was not done, and why; numbers that differ between nodes are a range."""

    what: str
    why: str
    things: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BurnFault:
    """A fault of one thing, with its number of reports; `seed` and `tier` reproduce the work.

    `item` is `gpu/6`, `slot` its PCI address, `said` the location in it and the actual and expected values.
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
    """One figure over all things of a kind: `known` of `of` have it; `low` and `high` are node and item of its ends.

    `spread` is their distance in the unit `apart`: % of the highest, or the unit itself if a share is meaningless.
    `note` is a remark on the figure itself.
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
    """One thing with its figures, in the table's order; `odd` if it has a finding."""

    node: str
    item: str
    serial: str
    slot: str
    odd: bool
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BurnTable:
    """Things of one kind and one model: figures over all of them, and of each."""

    kind: str
    model: str
    figures: tuple[BurnFigure, ...]
    rows: tuple[BurnRow, ...]


@dataclass(frozen=True, slots=True)
class BurnGap:
    """Observed reasons why some things stayed below their limit."""

    said: str
    things: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BurnLimit:
    """A figure beside its physical limit: both in `unit`, `reached` in % of each thing's own limit."""

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
    """Curves that share a scale: `what` names it; `more` curves are not drawn."""

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
    """Curves of one node, or an envelope of several; `findings` are what was found there."""

    nodes: tuple[str, ...]
    findings: tuple[str, ...]
    bands: tuple[BurnBand, ...]
    panels: tuple[BurnPanel, ...]


@dataclass(frozen=True, slots=True)
class Burned:
    """Everything in the document about burn-ins; `more_faults` are counted and not listed."""

    runs: tuple[BurnRun, ...]
    untested: tuple[BurnUntested, ...]
    faults: tuple[BurnFault, ...]
    more_faults: int
    tables: tuple[BurnTable, ...]
    limits: tuple[BurnLimit, ...]
    charts: tuple[BurnChart, ...]
