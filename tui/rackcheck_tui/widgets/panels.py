"""The layout of racks on the screen: the position of each node, its width, and its neighbours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

GAP = 2
"""Number of blank cells between racks side by side; between racks above each other, there are GAP - 1 blank lines."""


class FrontPanel(Protocol):
    """A rack seen from its front: each line's node names from top to bottom, '' if empty, and each line's label."""

    @property
    def name(self) -> str:
        """Return the rack's name."""

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Return the node names by line, from top to bottom."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the label of each line."""


@dataclass(frozen=True, slots=True)
class Plain:
    """The drawing of a rack whose lines contain only nodes, without labels such as rack units."""

    name: str
    rows: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Density:
    """Widths in cells: of a node's name, and of the description of its symbol (`word`); a width of 0 omits the text."""

    name: int = 0
    word: int = 0

    @property
    def width(self) -> int:
        """Return the width of one node in cells: its symbol, its mark, and the texts after them."""
        return 2 + sum(1 + room for room in (self.name, self.word) if room)


@dataclass(frozen=True)
class Draft:
    """A panel to draw: a title, then its lines; `least` is the width that the title needs."""

    panel: FrontPanel
    density: Density
    least: int = 0

    @cached_property
    def margin(self) -> int:
        """Return the width of the labels in cells, with a blank after them."""
        longest = max(map(len, self.panel.labels), default=0)
        return longest + 1 if longest else 0

    @cached_property
    def width(self) -> int:
        """Return the width of a line in cells."""
        places = max(map(len, self.panel.rows), default=0)
        return max(self.margin + places * self.density.width, self.least, 1)

    @cached_property
    def height(self) -> int:
        """Return the number of lines, including the title."""
        return 1 + len(self.panel.rows)

    def x(self, column: int) -> int:
        """Return the position, in cells from the panel's left edge, at which a column of nodes begins."""
        return self.margin + column * self.density.width

    def at(self, x: int, y: int) -> str:
        """Return the node at a cell; '' if there is none."""
        column, row = (x - self.margin) // self.density.width, y - 1
        if x < self.margin or not 0 <= row < len(self.panel.rows):
            return ""
        places = self.panel.rows[row]
        return places[column] if column < len(places) else ""


@dataclass(frozen=True, slots=True)
class PanelCell:
    """The position of a node: its panel, its line and column in the panel, and its cell in the whole layout."""

    node: str
    panel: int
    row: int
    column: int
    x: int
    y: int


@dataclass(frozen=True)
class PanelGrid:
    """Panels in rows of a given width: as many side by side as fit, but at least one."""

    drafts: tuple[Draft, ...]
    room: int

    @cached_property
    def pitch(self) -> int:
        """Return the number of cells from one panel's left edge to the next panel's; the widest panel determines it."""
        return max((draft.width for draft in self.drafts), default=1) + GAP

    @cached_property
    def columns(self) -> int:
        """Return the number of panels side by side."""
        return max(min((self.room + GAP) // self.pitch, len(self.drafts)), 1)

    @cached_property
    def tops(self) -> tuple[int, ...]:
        """Return the line number at which each panel begins."""
        tops, y = list[int](), 0
        for first in range(0, len(self.drafts), self.columns):
            side_by_side = self.drafts[first : first + self.columns]
            tops += [y] * len(side_by_side)
            y += max(draft.height for draft in side_by_side) + GAP - 1
        return tuple(tops)

    @cached_property
    def places(self) -> dict[str, PanelCell]:
        """Return the positions of all nodes, panel by panel, top to bottom; for repeated names, the first position."""
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
        """Return the next node in a direction, preferably straight ahead; if there is none, return the node itself."""
        here = self.places[node]

        def off(there: PanelCell) -> tuple[int, str] | None:
            dx, dy = there.x - here.x, there.y - here.y
            ahead, aside = (dx * across, abs(dy)) if across else (dy * down, abs(dx))
            return (ahead + 8 * aside, there.node) if ahead > 0 else None

        ahead = [found for there in self.places.values() if (found := off(there)) is not None]
        return min(ahead)[1] if ahead else node


def plane(panels: Sequence[FrontPanel], density: Density, room: int) -> PanelGrid:
    """Lay out panels in `room` cells; each panel is wide enough for the longest rack name and a blank after it."""
    least = max((len(panel.name) for panel in panels), default=0) + 1
    return PanelGrid(tuple(Draft(panel, density, least) for panel in panels), room)
