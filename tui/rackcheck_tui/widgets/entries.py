"""The content of a view: entries that can be written in any width, shown in full, and acted on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.view_history import ViewState

HeadLine = Callable[[int], Line | None]
"""Formats the column headings for a width."""


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One row; `name` identifies the row and never changes, `into` is the view that enter opens.

    `nodes`, `rule` and `fact` are the subjects of the actions on the row: collect again, waive, copy, explain. `cells`
    are the row's values by name, for export.
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
    """The rows of a view; implements the protocol `rackcheck.views.listing.Listing`."""

    every: Sequence[ListEntry]
    heading: HeadLine | None = None

    def __len__(self) -> int:
        return len(self.every)

    def name(self, row: int) -> str:
        """Return the name of a row."""
        return self.every[row].name

    def nodes(self, row: int) -> tuple[str, ...]:
        """Return the nodes of a row."""
        return self.every[row].nodes

    def head(self, width: int) -> Line | None:
        """Format the column headings."""
        return self.heading(width) if self.heading is not None else None

    def line(self, row: int, width: int) -> Line:
        """Format a row."""
        return self.every[row].line(width)

    def details(self, row: int, width: int) -> Sequence[Line]:
        """Format all details of a row."""
        return self.every[row].details(width)


@dataclass(frozen=True, slots=True)
class ViewContent:
    """The current content of a view: its rows, a summary, and the reason if there are no rows.

    `left_out` states for how many rows it is unknown whether the filter matches; `above` are lines above the rows.
    """

    entries: ListEntries
    words: str
    empty: str
    left_out: str = ""
    above: tuple[Line, ...] = ()
