"""Rows of a screen that are rendered one by one: of a hundred thousand rows, only the visible rows."""

from collections.abc import Sequence
from typing import Protocol

from rackcheck.views.terminal import Line


class Listing(Protocol):
    """Rows in order; a row has a number, and a name that does not change when other rows are added or removed."""

    def __len__(self) -> int:
        """The number of rows."""

    def name(self, row: int) -> str:
        """Return a row's stable name, by which the cursor and marks find the row again."""

    def nodes(self, row: int) -> tuple[str, ...]:
        """The nodes of a row, on which actions run."""

    def head(self, width: int) -> Line | None:
        """Return the column header, for a line of `width` cells; None if there is none."""

    def line(self, row: int, width: int) -> Line:
        """Render a row in exactly `width` cells."""

    def details(self, row: int, width: int) -> Sequence[Line]:
        """Render all details of a row, in lines of at most `width` cells."""
