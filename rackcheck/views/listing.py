"""Rows of a list on a screen; only visible rows are rendered, because a list may have a hundred thousand rows."""

from collections.abc import Sequence
from typing import Protocol

from rackcheck.views.terminal import Line


class Listing(Protocol):
    """The rows of a list in order; each row has a number, and a name that stays the same when other rows change."""

    def __len__(self) -> int:
        """The number of rows."""

    def name(self, row: int) -> str:
        """Return the stable name of a row, which the cursor and marks use to find the row again."""

    def nodes(self, row: int) -> tuple[str, ...]:
        """The nodes of a row; actions are run on these nodes."""

    def head(self, width: int) -> Line | None:
        """Return the column header, for a line of `width` cells; None if there is none."""

    def line(self, row: int, width: int) -> Line:
        """Render a row in exactly `width` cells."""

    def details(self, row: int, width: int) -> Sequence[Line]:
        """Render all details of a row, in lines of at most `width` cells."""
