"""Racks as places in a plane: the position of each node, its width, and its neighbours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

GAP = 2
"""Cells between racks side by side, and lines between racks above each other, less one."""


class FrontPanel(Protocol):
    """A rack seen from its front: node names a line, top to bottom, '' for an empty place; a label for each line."""

    @property
    def name(self) -> str:
        """The rack's name."""

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Node names by line, top to bottom."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What each line is called."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A rack of which only the names in its lines are known."""

    name: str
    rows: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Density:
    """Content of a place in cells: `name` for the node's name, `word` for its cell's word; 0 leaves it out."""

    name: int = 0
    word: int = 0

    @property
    def width(self) -> int:
        """Cells of one place: its sign, its mark, and the text behind them."""
        return 2 + sum(1 + room for room in (self.name, self.word) if room)


@dataclass(frozen=True)
class Draft:
    """A panel as it is drawn: a title, then its lines; `least` is the width that its title needs."""

    panel: FrontPanel
    density: Density
    least: int = 0

    @cached_property
    def margin(self) -> int:
        """Cells of the labels, with the blank behind them."""
        longest = max(map(len, self.panel.labels), default=0)
        return longest + 1 if longest else 0

    @cached_property
    def width(self) -> int:
        """Cells of a line."""
        places = max(map(len, self.panel.rows), default=0)
        return max(self.margin + places * self.density.width, self.least, 1)

    @cached_property
    def height(self) -> int:
        """Number of lines, including the title."""
        return 1 + len(self.panel.rows)

    def x(self, column: int) -> int:
        """Return the first cell of a place."""
        return self.margin + column * self.density.width

    def at(self, x: int, y: int) -> str:
        """Return the node at a cell; '' where there is none."""
        column, row = (x - self.margin) // self.density.width, y - 1
        if x < self.margin or not 0 <= row < len(self.panel.rows):
            return ""
        places = self.panel.rows[row]
        return places[column] if column < len(places) else ""


@dataclass(frozen=True, slots=True)
class PanelCell:
    """The position of a node: its panel, its line and column there, and its cell in the plane."""

    node: str
    panel: int
    row: int
    column: int
    x: int
    y: int


@dataclass(frozen=True)
class PanelGrid:
    """Panels in rows that fit a width: as many side by side as fit, and at least one."""

    drafts: tuple[Draft, ...]
    room: int

    @cached_property
    def pitch(self) -> int:
        """Cells from one panel's left edge to the next one's: that of the widest."""
        return max((draft.width for draft in self.drafts), default=1) + GAP

    @cached_property
    def columns(self) -> int:
        """Panels side by side."""
        return max(min((self.room + GAP) // self.pitch, len(self.drafts)), 1)

    @cached_property
    def tops(self) -> tuple[int, ...]:
        """The first line of each panel."""
        tops, y = list[int](), 0
        for first in range(0, len(self.drafts), self.columns):
            side_by_side = self.drafts[first : first + self.columns]
            tops += [y] * len(side_by_side)
            y += max(draft.height for draft in side_by_side) + GAP - 1
        return tuple(tops)

    @cached_property
    def places(self) -> dict[str, PanelCell]:
        """The positions of all nodes, panel by panel and top to bottom; of a repeated name, the first."""
        found: dict[str, PanelCell] = {}
        for place in self._every():
            found.setdefault(place.node, place)
        return found

    def _every(self) -> Iterator[PanelCell]:
        for number, draft in enumerate(self.drafts):
            left, top = number % self.columns * self.pitch, self.tops[number] + 1
            for row, names in enumerate(draft.panel.rows):
                for column, node in enumerate(names):
                    if node:
                        yield PanelCell(node, number, row, column, left + draft.x(column), top + row)

    def beside(self, node: str, across: int, down: int) -> str:
        """Return the next node in a direction: straight on before aside, near before far; else the node itself."""
        here = self.places[node]

        def off(there: PanelCell) -> tuple[int, str] | None:
            dx, dy = there.x - here.x, there.y - here.y
            ahead, aside = (dx * across, abs(dy)) if across else (dy * down, abs(dx))
            return (ahead + 8 * aside, there.node) if ahead > 0 else None

        ahead = [found for there in self.places.values() if (found := off(there)) is not None]
        return min(ahead)[1] if ahead else node


def plane(panels: Sequence[FrontPanel], density: Density, room: int) -> PanelGrid:
    """Lay panels out in this many cells, each wide enough for the longest rack name and the blank behind it."""
    least = max((len(panel.name) for panel in panels), default=0) + 1
    return PanelGrid(tuple(Draft(panel, density, least) for panel in panels), room)
