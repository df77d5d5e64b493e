"""What a burn-in did and found, as values of the document: folded over nodes, and bounded.

Numbers stand as they are shown: `figure` writes them. An empty one was not told or not tested, and never stands for 0.
"""

import math
from dataclasses import dataclass

FIGURE = r"^(-?[0-9]{1,15}(\.[0-9]{1,6})?)?$"
"""A number as `figure` writes it, or nothing."""

POINTS = r"^(-?[0-9]{1,12},-?[0-9]{1,12}( -?[0-9]{1,12},-?[0-9]{1,12})*)?$"
"""Points of a curve: milliseconds and tenths of the unit."""

ROLES = ("plain", "odd", "inlet", "lowest", "median", "highest")
"""What a line is: one of several alike, one with a finding, the air that comes in, or a part of an envelope."""


def figure(value: float) -> str:
    """Write a number with four digits that say something; large ones whole, what has no place on paper as nothing."""
    if not math.isfinite(value) or abs(value) >= 1e15:
        return ""
    whole = len(f"{abs(value):.0f}") if abs(value) >= 1 else 0
    message = f"{value:.{max(0, min(6, 4 - whole)) if abs(value) >= 0.001 else 6}f}"
    message = message.rstrip("0").rstrip(".") if "." in message else message
    return "0" if message in {"-0", ""} else message


def unit(text: str) -> str:
    """Give a unit as it is written on paper."""
    return {"C": "°C"}.get(text, text)


@dataclass(frozen=True, slots=True)
class BurnRun:
    """A burn-in as it was run on some nodes, all alike: `seconds` is the longest, `why` says why it ended early."""

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
    """Work that was not done, and why; numbers that differ between nodes stand as a range."""

    what: str
    why: str
    things: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BurnFault:
    """Something wrong with one thing, as often as it was told; `seed` and `tier` are those that do it all again.

    `item` is `gpu/6`, `slot` its PCI address, `said` where in it and what was seen instead of what.
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
    """One figure over all things of a kind: `known` of `of` told it; `low` and `high` are node and item of its ends.

    `spread` is how far these are apart, in `apart`: % of the highest, or the unit itself where a share says nothing.
    `note` says what is to be known of the figure itself.
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
    """One thing with its figures, in the table's order; `odd` where something was found of it."""

    node: str
    item: str
    serial: str
    slot: str
    odd: bool
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BurnTable:
    """Things of one kind and one model: figures over all of them, and each."""

    kind: str
    model: str
    figures: tuple[BurnFigure, ...]
    rows: tuple[BurnRow, ...]


@dataclass(frozen=True, slots=True)
class BurnGap:
    """Why some things stayed below their limit, as far as it was seen."""

    said: str
    things: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BurnLimit:
    """A figure beside what physics allows: both in `unit`, `reached` in % of each thing's own limit."""

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
    """One curve: `role` is one of ROLES, `points` are `ms,tenths` parted by blanks."""

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
    """A stage, from and until so many milliseconds."""

    side: str
    stage: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class BurnChart:
    """Curves of one node, or an envelope of several; `findings` say what was found there."""

    nodes: tuple[str, ...]
    findings: tuple[str, ...]
    bands: tuple[BurnBand, ...]
    panels: tuple[BurnPanel, ...]


@dataclass(frozen=True, slots=True)
class Burned:
    """Everything that the document tells of burn-ins; `more_faults` are counted and not listed."""

    runs: tuple[BurnRun, ...]
    untested: tuple[BurnUntested, ...]
    faults: tuple[BurnFault, ...]
    more_faults: int
    tables: tuple[BurnTable, ...]
    limits: tuple[BurnLimit, ...]
    charts: tuple[BurnChart, ...]
