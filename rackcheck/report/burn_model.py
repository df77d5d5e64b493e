"""Data classes for the work and findings of burn-ins; nodes with the same result are combined, and lists are limited.

Numbers are strings formatted by `figure`. An empty string instead of a number means that the value was not reported or
not tested, never 0.
"""

import math
from dataclasses import dataclass

FIGURE = r"^(-?[0-9]{1,15}(\.[0-9]{1,6})?)?$"
"""Regular expression for a number formatted by `figure`, or an empty string."""

POINTS = r"^(-?[0-9]{1,12},-?[0-9]{1,12}( -?[0-9]{1,12},-?[0-9]{1,12})*)?$"
"""Regular expression for the points of a curve: pairs of milliseconds and tenths of the unit."""

ROLES = ("plain", "odd", "inlet", "lowest", "median", "highest")
"""Roles of a curve: without a finding, with a finding, inlet air temperature, and the three curves of an envelope."""


def figure(value: float) -> str:
    """Format a number with about four significant digits and no exponent.

    Returns an empty string if the number is not finite, or is 1e15 or more.
    """
    if not math.isfinite(value) or abs(value) >= 1e15:
        return ""
    whole = len(f"{abs(value):.0f}") if abs(value) >= 1 else 0
    message = f"{value:.{max(0, min(6, 4 - whole)) if abs(value) >= 0.001 else 6}f}"
    message = message.rstrip("0").rstrip(".") if "." in message else message
    return "0" if message in {"-0", ""} else message


def unit(text: str) -> str:
    """Return a unit as it is printed: `C` as `°C`."""
    return {"C": "°C"}.get(text, text)


@dataclass(frozen=True, slots=True)
class BurnRun:
    """A burn-in with the same settings on some nodes; `seconds` is the longest duration.

    `ended` describes how the burn-in ended; `why` is the reason if it ended early.
    """

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
    """A fault of one part; `count` is the number of times that it was reported.

    `item` is, for example, `gpu/6`; `slot` is the PCI address; `said` describes the location in the part, and the
    actual and expected values. A burn-in with the same `seed` and `tier` repeats the work that found the fault.
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
    """One figure of the parts of one kind and model: how many parts (`of`), and how many with a value (`known`).

    `low` and `high` are the node and item with the lowest and the highest value. `spread` is the difference of the
    highest and the lowest value, in the unit `apart`: % of the highest value, or the figure's own unit if a percentage
    is meaningless. `note` is `unverified on hardware` if the figure's help text says so, else empty.
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
    """One part with its values, in the order of the table's figures; `odd` is true if the part has a finding."""

    node: str
    item: str
    serial: str
    slot: str
    odd: bool
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BurnTable:
    """A table of the parts of one kind and model: figures over all these parts, and one row for each part."""

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
    """One figure of all GPUs of a model, and its physical limit, both in `unit`.

    `lowest`, `median` and `highest` describe all parts: how much of its own limit each part reached, in %.
    """

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
    """One curve: `role` is one of ROLES, `points` are `milliseconds,tenths of the unit` pairs separated by blanks."""

    name: str
    role: str
    points: str


@dataclass(frozen=True, slots=True)
class BurnPanel:
    """Curves that share a scale: `what` is the panel's title, `more` the number of curves that are not drawn."""

    what: str
    unit: str
    lines: tuple[BurnLine, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class BurnBand:
    """A stage of a burn-in on one side (`gpu` or `cpu`) of a node, with begin and end in milliseconds."""

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
