"""What a view shows: entries that can be written in any width, told in full, and acted on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.view_history import ViewState

HeadLine = Callable[[int], Line | None]
"""Writes the heading of the columns for a width."""


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One row; `name` is its own for ever, `into` is where enter leads.

    `nodes`, `rule` and `fact` are what actions work on: ask again, waive, copy, explain. `cells` are what it says, each
    by its name, for other programs.
    """

    name: str
    line: Callable[[int], Line]
    details: Callable[[int], Sequence[Line]]
    nodes: tuple[str, ...] = ()
    into: ViewState | None = None
    rule: str = ""
    fact: str = ""
    cells: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ListEntries:
    """Entries as a listing: what `rackcheck.views.listing` asks for."""

    every: Sequence[ListEntry]
    heading: HeadLine | None = None

    def __len__(self) -> int:
        return len(self.every)

    def name(self, row: int) -> str:
        """Name a row."""
        return self.every[row].name

    def nodes(self, row: int) -> tuple[str, ...]:
        """The nodes that a row is about."""
        return self.every[row].nodes

    def head(self, width: int) -> Line | None:
        """Head the columns."""
        return self.heading(width) if self.heading is not None else None

    def line(self, row: int, width: int) -> Line:
        """Write a row."""
        return self.every[row].line(width)

    def details(self, row: int, width: int) -> Sequence[Line]:
        """Tell all there is of a row."""
        return self.every[row].details(width)


@dataclass(frozen=True, slots=True)
class ViewContent:
    """A view as it is now: its rows, what they are in words, and why there are none, where there are none.

    `left_out` says of how many rows nobody can know whether the filter means them; `above` are lines over the rows.
    """

    entries: ListEntries
    words: str
    empty: str
    left_out: str = ""
    above: tuple[Line, ...] = ()
